"""What a command line that makes no sense is told, where Typer's own words leave one guessing."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["Group", "TaskCommand"]


class TaskCommand(TyperCommand):
    """`run`: tells where an option belongs, and that a prompt is one argument."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            option = getattr(error, "option_name", None)
            if option is not None and option in _options(ctx.parent):
                ctx.fail(f"{option} stands before the command: pygent {option} … run …")
            if "extra argument" in str(error):
                ctx.fail(f"{error}: put the whole prompt in quotes")
            raise


class Group(TyperGroup):
    """`pygent`: a word that is no command may have been meant as a task."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is meant."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            known = ", ".join(self.list_commands(ctx))
            ctx.fail(
                f"no command is called {args[0]!r}: there are {known}; a task is given as "
                'pygent run "…"'
            )
        return super().resolve_command(ctx, args)


def _options(ctx: Any) -> set[str]:
    """Return all names of the options of a command."""
    found: set[str] = set()
    for param in ctx.command.get_params(ctx):
        found |= {*param.opts, *param.secondary_opts}
    return found
