"""`python -m tests.requirements` draws the table; `… install` first installs what it can.

What is installed is what `PYGENT_TEST_REQUIRE` names: nothing without it.
"""

from __future__ import annotations

import os
import sys

from .installing import install
from .table import lines, required

if __name__ == "__main__":
    if sys.argv[1:] == ["install"]:
        install(required(os.environ.get("PYGENT_TEST_REQUIRE", "")))
    print("\n".join(lines({})))
