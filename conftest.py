"""What every test gets, in `tests/` and in the documents alike."""

from __future__ import annotations

pytest_plugins = [
    "pytester",
    "tests.requirements.plugin",
    "tests.isolation",
    "tests.leftovers",
    "tests.properties",
]
