"""``judge-tui challenge``: challenges of one's own."""

from __future__ import annotations

import click

from judge_tui.cli.lazy_group import LazyGroup

__all__ = ["COMMANDS", "command"]

#: Subcommand → what its line in the help says. Its module has its name.
COMMANDS = {
    "new": "Write a small challenge that judges as it is, to begin with.",
    "import": "Make challenges of problems of KernelBench, gpu-mode or Kattis, unedited.",
    "check": "Try whether a challenge is fair to what is right, and hard on what is lazy.",
}


@click.group(
    "challenge",
    cls=LazyGroup,
    offered=COMMANDS,
    package="judge_tui.cli.challenge",
    invoke_without_command=True,
    no_args_is_help=False,
)
@click.pass_context
def command(context: click.Context) -> None:
    """Make a challenge of one's own.

    It lies in challenges/NAME of the workspace, and is judged like a built-in task.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
