"""Imports point one way, and what need not know torch never loads it."""

import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_import_contracts() -> None:
    """Those of pyproject.toml, on the sources as they are."""
    code = "from importlinter.cli import lint_imports_command as run; run(['--no-cache'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "module", ["playground.ui.page", "playground.terminal.generation", "playground.trace.log", "playground.web.app"]
)
def test_it_is_imported_without_torch(module: str) -> None:
    code = f"import sys, {module}; assert not {{'torch', 'transformers'}} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_pages_folders_import_one_way() -> None:
    """What the page's modules run with, types apart: no folder reaches back into one that builds on it."""
    static = ROOT / "static"
    needs: dict[str, set[str]] = {}
    for path in static.rglob("*.js"):
        for said in re.findall(r'^(?:import|export)\b[^;"]*?"(\.[\w./-]+)"', path.read_text(), re.M):
            target = (path.parent / said).resolve()
            assert target.is_file(), (path, said)
            if target.parent != path.parent:
                needs.setdefault(path.parent.name, set()).add(target.parent.name)
    order = list(TopologicalSorter(needs).static_order())  # raises where it goes round in a circle
    assert order[-1] == "static", "the page's entries build on all, and nothing on them"


def test_sources_stay_small() -> None:
    """One job a file: none grows beyond 300 lines."""
    sources = [
        *ROOT.glob("*.py"),
        *(ROOT / "playground").rglob("*.py"),
        *(ROOT / "tests").rglob("*.py"),
        *(ROOT / "static").rglob("*.js"),
    ]
    large = {str(path.relative_to(ROOT)): n for path in sources if (n := len(path.read_text().splitlines())) > 300}
    assert not large
