from __future__ import annotations

import pytest

from pygent.task_manager import TaskManager
from pygent.task_tools import set_task_manager


@pytest.fixture
def managed():
    """Return how to put a manager in charge; it is closed in the end."""
    made = []

    def use(*args, **more):
        made.append(TaskManager(*args, **more))
        set_task_manager(made[-1])
        return made[-1]

    yield use
    set_task_manager(None)
    for manager in made:
        manager.close()
