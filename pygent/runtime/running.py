"""Running one command to its end, under the current scope."""

from __future__ import annotations

from ..cancel import CancelScope
from ..errors import Cancelled
from .sandbox import CommandResult, CommandSpec, Job, Sandbox

__all__ = ["run"]


def run(sandbox: Sandbox, spec: CommandSpec) -> CommandResult:
    """Run a command to its end, its deadline or the current scope's, whichever is first.

    When it is the scope's, or anything else ends the wait, the command is dead before the error
    is raised, and what it had printed is the error's ``output``.
    """
    if spec.timeout == 0:
        return CommandResult(output="", exit_code=None, timed_out=True)
    scope = CancelScope.current()
    job: Job | None = None
    try:
        job = sandbox.start(spec)
        with scope.stopping(job.kill):
            result = job.wait()
    except BaseException as error:
        if job is not None:
            job.kill()
            _attach(error, job.wait())
        raise
    assert result is not None
    if result.killed and not result.timed_out:
        try:
            scope.check()
        except Cancelled as error:
            _attach(error, result)
            raise
    return result


def _attach(error: BaseException, result: CommandResult | None) -> None:
    """Leave what was printed on the error, so that the call can be answered with it."""
    if result is not None:
        vars(error)["output"] = result.output
