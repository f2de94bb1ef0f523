"""``judge-tui gather``: the parts of a check, which were run by themselves, as one."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import click

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.verdict import Outcome
from judge_tui.cli import options
from judge_tui.cli.gathering import Part, events_of, gathered, read_part
from judge_tui.judging.plain import plain
from judge_tui.judging.wording import counted
from judge_tui.judging.workspace import Workspace

__all__ = ["command"]


@click.command("gather")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path, dir_okay=False)
)
@options.workspace
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "jsonl", "junit"]),
    default="text",
    show_default=True,
    help="What standard output gets.",
)
def command(files: tuple[Path, ...], workspace: Path | None, form: str) -> int:
    """Put the parts of a check together: what 'check --shard I/N --format jsonl' printed.

    The parts may come from several machines. They have to be all parts of one run: the same answers, byte for
    byte, judged by the same engine under one seed. Where the workspace here holds those answers, their
    outcomes are stored as if they had been found here, and the app shows them.

    Exits as 'check' does.
    """
    from judge_tui.cli.checking import exit_code
    from judge_tui.cli.results import make_printer

    parts = [read_part(file) for file in files]
    outcomes = gathered(parts)
    printer = make_printer(form)
    for event in events_of(parts, outcomes):
        printer.show(event)
    printer.close()
    found: Workspace | None = None
    with suppress(JudgeError):
        found = options.open_workspace(workspace, None, None)
    if found is not None and (stored := _stored(found, parts, outcomes)):
        click.echo(f"judge-tui: stored the outcomes of {counted(stored, 'answer')} in view here.", err=True)
    missed = _not_judged(found, outcomes)
    for clause in missed:
        click.echo(f"judge-tui: {plain(clause)}.", err=True)
    return exit_code(outcomes, judged=not missed)


def _stored(workspace: Workspace, parts: list[Part], outcomes: list[Outcome]) -> int:
    """Store what was found about the answers that the workspace holds; of how many."""
    from judge_tui.checks.engine_version import engine_version
    from judge_tui.checks.store import Store
    from judge_tui.cli.sharding import answer_digest

    if parts[0].head.engine != engine_version():
        return 0
    by_answer: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_answer[f"{outcome.task}/{outcome.model}"].append(outcome)
    store, kept = Store(), 0
    for name, digest in {name: d for part in parts for name, d in part.head.answers.items()}.items():
        task, _slash, model = name.partition("/")
        with suppress(JudgeError):
            submission = workspace.submission(model, task)
            if answer_digest(submission) != digest:
                continue
            for where in {(one.backend, one.device) for one in by_answer[name]}:
                there = [one for one in by_answer[name] if (one.backend, one.device) == where]
                store.keep(there, store.key(submission, *where))
            kept += 1
    return kept


def _not_judged(workspace: Workspace | None, outcomes: list[Outcome]) -> list[str]:
    """What was required and judged by no check, where it is known what was."""
    from judge_tui.checks.challenges.task import task_of
    from judge_tui.checks.judged import unjudged

    by_answer: defaultdict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_answer[outcome.task, outcome.model].append(outcome)
    told: list[str] = []
    for (task, model), found in by_answer.items():
        with suppress(JudgeError):
            known = task_of(task, workspace.challenge(task) if workspace is not None else None)
            told += [f"{task}/{model}: {name} was not judged" for name in unjudged(known, found)]
    return told
