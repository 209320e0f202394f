"""Where an agent's commands and files live."""

from __future__ import annotations

from .choice import SandboxWarning, TierChoice, warn_once
from .files import Entry, Files, NotFound, WorkspaceFiles
from .local import LocalSandbox
from .output import OutputLimits
from .runtime import Runtime
from .sandbox import CommandResult, CommandSpec, Job, Probe, Sandbox

__all__ = [
    "CommandResult",
    "CommandSpec",
    "Entry",
    "Files",
    "Job",
    "LocalSandbox",
    "NotFound",
    "OutputLimits",
    "Probe",
    "Runtime",
    "Sandbox",
    "SandboxWarning",
    "TierChoice",
    "WorkspaceFiles",
    "warn_once",
]
