"""Agents that work in the background."""

from __future__ import annotations

from .manager import TaskManager
from .task import Task, TaskState

__all__ = ["Task", "TaskManager", "TaskState"]
