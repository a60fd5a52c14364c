"""The page's pure modules, tested in Node where there is one; the browser tests cover them too."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from playground.events import adapter
from playground.lessons import claims

STATIC = Path(__file__).parents[2] / "static"
TESTS = Path(__file__).parent / "modules"

MOST_LINES = 300


def test_modules_in_node(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed; the browser tests cover these modules.")
    shutil.copytree(STATIC, tmp_path / "page", ignore=shutil.ignore_patterns("*.jsonl"))
    shutil.copytree(TESTS, tmp_path / "page" / "test")
    (tmp_path / "page" / "package.json").write_text('{"type": "module"}')
    tests = sorted(str(path) for path in (tmp_path / "page" / "test").glob("*.test.js"))
    trace = STATIC / "recordings" / "diffusion.jsonl"
    measures = claims.measure(adapter.validate_json(line) for line in trace.read_text().splitlines())
    environment = os.environ | {"TRACE": str(trace), "MEASURES": json.dumps(measures)}
    result = subprocess.run([node, "--test", *tests], capture_output=True, text=True, timeout=120, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", sorted(STATIC.rglob("*.js")), ids=lambda path: path.name)
def test_modules_are_small_and_checked(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert len(lines) < MOST_LINES
    assert lines[0] == "// @ts-check"


@pytest.mark.parametrize("path", sorted(STATIC.rglob("*.js")), ids=lambda path: path.name)
def test_no_module_can_write_markup(path: Path) -> None:
    text = path.read_text()
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser"):
        assert way not in text
