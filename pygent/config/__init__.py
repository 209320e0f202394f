"""Settings: the one place that reads the environment and configuration files."""

from __future__ import annotations

from .environment import flag, names, number, text, whole_number
from .files import PROJECT_FILE, load_config, run_py_config, user_file
from .paths import cache_dir, config_dir, data_dir, home, make_dir, state_dir
from .snapshots import SETTINGS, load_snapshot, save_snapshot

__all__ = [
    "PROJECT_FILE",
    "SETTINGS",
    "cache_dir",
    "config_dir",
    "data_dir",
    "flag",
    "home",
    "load_config",
    "load_snapshot",
    "make_dir",
    "names",
    "number",
    "run_py_config",
    "save_snapshot",
    "state_dir",
    "text",
    "user_file",
    "whole_number",
]
