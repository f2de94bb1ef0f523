"""The command ``judge-tui`` and its subcommands, each imported when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from judge_tui.cli.lazy_group import LazyGroup

__all__ = ["COMMANDS", "root"]

#: Subcommand → what its line in the help says. Its module has its name, with underscores.
COMMANDS = {
    "home": "Show models and tasks, and what is to be judged next.",
    "compare": "Read two or three submissions side by side, check and score them.",
    "serve": "Show Home or a comparison in a browser.",
    "check": "Run the live checks without a screen.",
    "gather": "Put the parts of a check together that were run by themselves.",
    "bind": "Show which callable plays which role, why, and what is open.",
    "tasks": "List the tasks that checks are installed for.",
    "score": "Set scores, comments and notes from a script.",
    "notes": "Print what was noted, for whoever hands it on.",
    "report": "Make a document of scorecards and matchups.",
    "scores": "Print scorecards, matchups and outcomes as data.",
    "import-scores": "Take scorecards and matchups in, from a person or a program.",
    "packet": "Write what a language model needs to judge as a person does.",
    "export": "Write the scoreboard into a README, between two markers.",
    "challenge": "Make a challenge of one's own.",
    "rubric": "Start a rubric of one's own from the one that applies, or print that.",
    "init": "Make a new workspace.",
    "add": "Bring in a model's work: files, archives, chat answers, notebooks, samples.",
    "demo": "Write a small workspace to try things in, and open it.",
    "doctor": "Say what works on this machine, and what to do about the rest.",
    "completion": "Print the completion script of a shell.",
}


def _version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"judge-tui {version('judge-tui')}")
        context.exit()


@click.group(
    cls=LazyGroup,
    offered=COMMANDS,
    package="judge_tui.cli",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
@click.option(
    "--workspace",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="The workspace; by default the current folder or one above it.",
)
@click.option("--judge", metavar="NAME", help="Who judges, where no command follows.")
@click.pass_context
def root(context: click.Context, workspace: Path | None, judge: str | None) -> Any:
    """Judge code that language models wrote: side by side, with live checks and rubrics.

    Without a command: the models and tasks of the workspace, with what is scored and checked, and what is to
    be judged next.
    """
    context.obj = workspace
    if context.invoked_subcommand is None:
        from judge_tui.cli.home import show
        from judge_tui.judging.workspace import Workspace

        return show(Workspace.find(explicit=workspace), judge)
    if judge is not None:
        from judge_tui.checks.errors import UsageError

        raise UsageError(
            "--judge stands behind a command.", hint=f"judge-tui {context.invoked_subcommand} … --judge NAME"
        )
    return None
