"""Imports point one way, and what need not know torch never loads it."""

import subprocess
import sys
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


def test_sources_stay_small() -> None:
    """One job a file: none grows beyond 300 lines."""
    sources = [
        *ROOT.glob("*.py"),
        *(ROOT / "playground").rglob("*.py"),
        *(ROOT / "tests").rglob("*.py"),
        *(ROOT / "static").glob("*.js"),
    ]
    large = {str(path.relative_to(ROOT)): n for path in sources if (n := len(path.read_text().splitlines())) > 300}
    assert not large
