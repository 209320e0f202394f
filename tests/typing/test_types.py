"""The types hold: mypy agrees, strictly, on the package and on what users see of it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.deep
def test_mypy_agrees(tmp_path):
    """Strict mypy finds nothing in the package, nor in a user's program with `assert_type`."""
    argv = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "mypy")]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.deep
def test_mypy_would_object(tmp_path):
    """Control: a wrong use of the public API is found."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from pygent import Agent\nx: int = Agent(model=3).step('hi')\n")
    argv = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        str(tmp_path / "c"),
        str(wrong),
    ]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "arg-type" in done.stdout
    assert "assignment" in done.stdout
