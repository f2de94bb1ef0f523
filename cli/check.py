"""``judge-tui check``: the live checks without a screen."""

from __future__ import annotations

import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import click

from judge_tui.checks.errors import EngineError, UsageError
from judge_tui.cli import clustering, options
from judge_tui.cli.selection import Selection, select
from judge_tui.cli.sharding import SHARD, Shard, part_of, shard_head
from judge_tui.judging.plain import plain
from judge_tui.judging.wording import counted

__all__ = ["command"]


@click.command("check")
@click.argument("models", nargs=-1, metavar="[MODELS]...", shell_complete=options.complete_model)
@options.task(several=True)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Every submission of every task; with models, every attempt of theirs.",
)
@click.option(
    "--check", "checks", multiple=True, metavar="ID", help="Only this check; repeat it for several."
)
@options.workspace
@options.submissions
@options.bindings
@options.backend
@options.seed
@click.option("--fresh", is_flag=True, help="Run again what has a stored outcome.")
@options.trust
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "jsonl", "junit"]),
    default="text",
    show_default=True,
    help="What standard output gets.",
)
@click.option(
    "--allow-unjudged", is_flag=True, help="Exit 0, not 4, where something required was not judged."
)
@click.option(
    "--shard",
    type=SHARD,
    metavar="I/N",
    help="Only part I of N, for 'judge-tui gather'; with --format jsonl and --seed.",
)
@click.option(
    "--jobs",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Submissions checked at once; 0 for one per processor.",
)
@click.option(
    "--repair",
    type=click.FloatRange(0),
    default=0.0,
    metavar="SECONDS",
    help="Then look so long, of each answer in Python that failed, for one edit with which it passes.",
)
@clustering.engine
def command(
    models: tuple[str, ...],
    tasks: tuple[str, ...],
    everything: bool,
    checks: tuple[str, ...],
    workspace: Path | None,
    submissions: Path | None,
    bindings: Path | None,
    form: str,
    allow_unjudged: bool,
    shard: Shard | None,
    engine: clustering.Engine,
    **settings: Any,
) -> int:
    """Run the live checks on submissions.

    A name is that of one answer: glm5 is the first of that model, glm5@2 its second. Where no model is
    named, and with --all, every attempt is checked.

    Exits 0 when nothing failed and everything required was judged, 1 when some verdict is fail,
    2 when the request or a challenge is off, 3 when the engine itself broke, 4 when nothing failed and
    something required was not judged: no check of its answers came to more than unbound or skip.
    """
    found = options.open_tree(workspace, submissions, bindings)
    if not (models or tasks or everything):
        raise UsageError("say what to check.", hint="Name models, give --task T, or say --all.")
    if shard is not None and (form != "jsonl" or settings["seed"] is None):
        raise UsageError(
            "the parts of a check are gathered from their lines, and judged under one seed.",
            hint="Say --format jsonl and --seed S beside --shard, the same in all parts.",
        )
    if shard is not None and settings["repair"]:
        raise UsageError(
            "the lines of a part tell each outcome once.", hint="Leave --repair away, or --shard."
        )
    selection = select(found, models, tasks, attempts=everything)
    signal.signal(signal.SIGTERM, _terminated)
    return _run(selection, checks, form, settings, shard, engine, found.root, allow_unjudged=allow_unjudged)


def _terminated(_: int, __: FrameType | None) -> None:
    # leave through the runner's own clean-up, which kills its workers
    sys.exit(128 + signal.SIGTERM)


def _run(
    selection: Selection,
    checks: tuple[str, ...],
    form: str,
    settings: dict[str, Any],
    shard: Shard | None,
    engine: clustering.Engine,
    root: Path,
    *,
    allow_unjudged: bool,
) -> int:
    from judge_tui.cli.checking import exit_code, not_judged, requests, stream
    from judge_tui.cli.results import JsonLinesPrinter, make_printer
    from judge_tui.cli.tally import Tally

    selection, broken = _usable(selection)
    head = None if shard is None else shard_head(selection, checks, shard, settings["seed"])
    if shard is not None:
        selection = part_of(selection, shard)
    for warning in (*selection.warnings, *broken):
        click.echo(f"judge-tui: {plain(warning)}", err=True)
    # of more parts than answers some have none
    asked = requests(selection, checks, settings) if selection.tasks else []
    tally = Tally(asked, root)
    printer = make_printer(form, tally) if head is None else JsonLinesPrinter(tally, head)
    with clustering.executor_of(engine, jobs=settings["jobs"], trust=settings["trust"]) as executor:
        outcomes = stream(asked, printer, tally, executor)
    missed = [] if allow_unjudged else not_judged(selection, outcomes)
    for clause in missed:
        click.echo(f"judge-tui: {plain(clause)}.", err=True)
    code = exit_code(outcomes, judged=not missed)
    return EngineError.exit_code if broken else code


def _usable(selection: Selection) -> tuple[Selection, list[str]]:
    """The selection without tasks that cannot be imported, and what is wrong with those.

    Raises:
        EngineError: None is left.
    """
    usable, broken = {}, []
    for task, submissions in selection.tasks.items():
        try:
            selection.task(task)
        except EngineError as error:
            told = f"{counted(len(submissions), 'submission')} left out"
            broken.append(f"{error.message}: {told}.")
            if len(selection.tasks) == 1:
                raise
        else:
            usable[task] = submissions
    return replace(selection, tasks=usable), broken
