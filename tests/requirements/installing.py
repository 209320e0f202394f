"""Install what is required and lacking: only where `PYGENT_TEST_REQUIRE` asks for it."""

from __future__ import annotations

import os
import shutil
import subprocess

from .table import ROWS


def install(names: frozenset[str]) -> None:
    """Install through apt-get, as root, the rows that are lacking; say what could not be."""
    lacking = [ROWS[name] for name in sorted(names) if ROWS[name].lacking]
    packages = sorted({package for row in lacking for package in row.apt})
    if not packages:
        return
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid():
        print(f"not installed: {' '.join(packages)} (that takes apt-get, and root)")
        return
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for argv in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run([apt, *argv], stdin=subprocess.DEVNULL, env=quiet, check=False)
        if done.returncode:
            print(f"apt-get {argv[0]} ended with {done.returncode}")
    for row in lacking:
        row.forget()
