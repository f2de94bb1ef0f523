"""A group of commands, each of which is imported when it is called, and not before."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """A group whose help and dispatch import no subcommand but the one that runs.

    Args:
        offered: Subcommand → what its line in the help says.
        package: Where their modules are: each has its command's name with underscores, one more behind it
            where that is a word of Python's, and offers ``command``.
        options: As of any group.
    """

    def __init__(self, *, offered: Mapping[str, str], package: str, **options: Any) -> None:
        super().__init__(**options)
        self.offered = offered
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the subcommands, in the order of the help."""
        return list(self.offered)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand of that name, imported now."""
        if cmd_name not in self.offered:
            return None
        module = cmd_name.replace("-", "_") + "_" * iskeyword(cmd_name)
        command: click.Command = import_module(f"{self._package}.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.offered.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand that is meant; an unknown one lists the near names."""
        if args[0] not in self.offered and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], self.offered, n=3)
            hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(self.offered)}."
            ctx.fail(f"there is no command '{args[0]}'. {hint}")
        return super().resolve_command(ctx, args)
