"""No committed text names a machine's paths, a package registry or a credential.

This file is read like the others, so no pattern matches itself, and `~` cuts the examples in two.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SKIPPED = {".git", ".venv", "site", "build", "dist", "htmlcov", "__pycache__"}
SETTINGS = ("*.toml", "*.txt", "*.lock", "*.json", "*.cfg", "*.yaml", "*.yml", "Makefile", ".ci/*")

EVERYWHERE = {
    "a mirror on this machine": r"/opt/(pypi|wheels)",
    "a registry's file host": r"files[.]pythonhosted|registry[.]npmjs",
    "somebody's home": r"/(home|Users)/(?!(user|me|you|alice|bob|nobody)\b)[a-z][\w-]*/",
    "an interpreter's home": r"/[.]pyenv/versions/\d",
    "a credential": r"\b(sk-(proj-|ant-)?[A-Za-z0-9]{24}|gh[ps]_[A-Za-z0-9]{20}|AKIA[0-9A-Z]{16})",
    "an install of another project": r"(pip|uv|pipx) (install|add) ['\"]?pygent\b",
}
IN_SETTINGS = {
    "a package index": r"(registry|resolved|index-url|find-links)\"?\s*[:=].{0,12}(https?|file)://"
}


def committed() -> list[Path]:
    """Return the files that are in the repository or about to be; without git, all there are."""
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode == 0 and (ROOT / ".git").exists():
        paths = [ROOT / name for name in listing.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not SKIPPED & set(path.parts)]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def leaks(text: str, patterns: dict[str, str]) -> list[str]:
    """Return what the text gives away, with the line's number."""
    return [
        f"line {text.count(chr(10), 0, match.start()) + 1}: {what}: {match.group()}"
        for what, pattern in patterns.items()
        for match in re.finditer(pattern, text)
    ]


def test_no_committed_text_names_a_machine_or_a_registry():
    """A clone tells nothing of the machine it was written on, nor where its packages came from."""
    here = {"the folder of this clone": re.escape(f"{ROOT}/")} if len(ROOT.parts) > 2 else {}
    found = []
    for path in committed():
        text = path.read_text(encoding="utf-8", errors="replace")
        patterns = EVERYWHERE | here
        if any(path.relative_to(ROOT).match(glob) for glob in SETTINGS):
            patterns |= IN_SETTINGS
        found += [f"{path.relative_to(ROOT)}, {leak}" for leak in leaks(text, patterns)]
    assert found == []


def test_constraints_hold_versions_alone():
    """The constraints work with any index: one exact version a line, no hash and no address."""
    entry = re.compile(r"[a-z0-9.-]+==[A-Za-z0-9.]+( ; [^:@]+)?")
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not line.startswith("#") and not entry.fullmatch(line)] == []


@pytest.mark.parametrize(
    "text",
    [
        "see /opt/~pypi/simple",
        "https://files~.pythonhosted.org/x.whl",
        "cd /home/~somebody/src",
        "pip install ~pygent",
        "pip install '~pygent[docker]'",
        "key = 'sk-~aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
    ],
)
def test_what_would_give_something_away_is_seen(text):
    """The patterns find what they are for."""
    assert leaks(text.replace("~", ""), EVERYWHERE)


@pytest.mark.parametrize(
    "text",
    ["pip install '.[docker]'", "cd /home/user/src", "a /home page", "pip install -e '.[test]'"],
)
def test_what_gives_nothing_away_passes(text):
    """The patterns let through what a document needs to say."""
    assert leaks(text, EVERYWHERE) == []
