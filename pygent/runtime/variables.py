"""The environment that a command gets: an allow-list, so that no secret is on it by accident."""

from __future__ import annotations

import os
from collections.abc import Mapping

__all__ = ["child_environment"]

_PASSED = frozenset(
    (
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
        *("VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "PYENV_VERSION", "NVM_DIR", "JAVA_HOME"),
        *("CARGO_HOME", "RUSTUP_HOME", "GOPATH", "GOROOT", "LD_LIBRARY_PATH", "SSL_CERT_FILE"),
        *("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONIOENCODING"),
        *("PYTHONUTF8", "PYTHONWARNINGS", "SOURCE_DATE_EPOCH"),
        *("LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME"),
        *("LC_MONETARY", "LC_PAPER", "LC_NAME", "LC_ADDRESS", "LC_TELEPHONE", "LC_MEASUREMENT"),
    )
)
# Nobody answers a pager or a prompt, and colours are noise to a model.
_FIXED = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}


def child_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return what a command may see of our environment, and ``extra`` on top.

    Only names that are known to be harmless are passed on; a key is not among them, whatever its
    variable is called.
    """
    ours = os.environ.get
    passed = {name: value for name in _PASSED if (value := ours(name)) is not None}
    passed.setdefault("PATH", os.defpath)
    return {**passed, **_FIXED, **extra}
