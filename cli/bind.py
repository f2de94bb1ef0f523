"""``judge-tui bind``: which callable plays which role, why, and what is open."""

from __future__ import annotations

from pathlib import Path

import click

from judge_tui.checks.errors import UsageError
from judge_tui.checks.submission import Submission
from judge_tui.cli import options
from judge_tui.judging.sidefiles import judges_folder
from judge_tui.judging.workspace import Workspace

__all__ = ["command"]


@click.command("bind")
@click.argument("model", metavar="MODEL", shell_complete=options.complete_model)
@options.task(required=True)
@click.option("--role", metavar="R", help="Only this role.")
@click.option("--write", is_flag=True, help="Store what was found in submission.toml.")
@click.option("--adapter", is_flag=True, help="Write the skeleton of an adapter.py.")
@click.option(
    "--prompt", is_flag=True, help="Print what somebody, or a language model, needs to write an adapter.py."
)
@options.workspace
@options.submissions
@options.bindings
@options.seed
@options.trust
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What standard output gets.",
)
def command(
    model: str,
    task: str,
    *,
    role: str | None,
    write: bool,
    adapter: bool,
    prompt: bool,
    workspace: Path | None,
    submissions: Path | None,
    bindings: Path | None,
    seed: int | None,
    trust: bool,
    form: str,
) -> None:
    """Show which callable of a submission plays which role, how it is called, and what showed it.

    An open role lists every candidate with the line where it stands and how it failed.
    """
    if prompt and (write or adapter or role or form == "json"):
        raise UsageError(
            "--prompt is a text by itself.", hint="Leave out --role, --write, --adapter and --format."
        )
    found = options.open_tree(workspace, submissions, bindings)
    submission = _meant(found, model, task, whole=write or adapter)
    target = judges_folder(found, submission) if write or adapter else None
    from judge_tui.cli.binding import Search, print_json, print_prompt, print_text, store

    search = Search.made(
        submission, role, seed=seed or 0, trust=trust, challenge=found.challenge(submission.task)
    )
    written = store(search, target, write=write, adapter=adapter) if target is not None else ()
    if prompt:
        print_prompt(search)
    elif form == "json":
        print_json(search, written)
    else:
        print_text(search, written)


def _meant(found: Workspace, model: str, task: str, *, whole: bool) -> Submission:
    chosen = found.task(task, whole=whole)
    return found.submission(found.model(model, chosen, whole=whole), chosen)
