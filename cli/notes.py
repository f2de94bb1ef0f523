"""``judge-tui notes``: what was noted on submissions, for whoever hands it on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from judge_tui.checks.errors import UsageError
from judge_tui.cli import options
from judge_tui.judging.card import Scorecard
from judge_tui.judging.placing import Placed
from judge_tui.judging.plain import plain
from judge_tui.judging.summaries.gathered import Gathered, Judged, gathered
from judge_tui.judging.summaries.noted import notes_on
from judge_tui.judging.summaries.parts import Heading, Part, Prose, Report

__all__ = ["command"]

_SCHEMA = 1


@click.command("notes")
@click.argument("models", nargs=-1, metavar="[MODEL]...", shell_complete=options.complete_model)
@options.task(several=True)
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="Whose notes; everybody's by default.")
@click.option(
    "--published/--own", default=None,
    help="What was published on other files, or what is said of those here; the latter, where there is any.",
)  # fmt: skip
@click.option("--format", "form", type=click.Choice(["md", "json"]), default="md", help="The format.")
@options.workspace
def command(
    models: tuple[str, ...],
    tasks: tuple[str, ...],
    judges: tuple[str, ...],
    published: bool | None,
    form: str,
    workspace: Path | None,
) -> None:
    """Print what was noted, with the present lines of each note and what is to be known of its place."""
    found = options.open_workspace(workspace, None, None)
    chosen = [found.task(name) for name in tasks] or list(found.tasks())
    named = [found.model(name, *chosen) for name in models]
    read = gathered(found, named, chosen, judges, published=published, further=not named)
    for fault in read.faults:
        click.echo(f"judge-tui: left out: {plain(fault)}", err=True)
    if form == "json":
        click.echo(json.dumps({"schema": _SCHEMA, "notes": _as_data(read)}, indent=2, ensure_ascii=False))
        return
    parts = _parts(read)
    if not any(not isinstance(part, Heading | Prose) for part in parts):
        whom = ", ".join(named) or "any submission"
        raise UsageError(f"nobody has noted anything on {whom} yet.", hint="In judge-tui compare, `a` notes.")
    from judge_tui.reports.rendering import markdown

    titles = {task: of.rubric.title for task, of in read.tasks.items()}
    report = Report("notes", "Notes", dict(read.models), titles, read.judges, read.newest, tuple(parts))
    click.echo(markdown(report), nl=False)


def _judged(read: Gathered) -> list[Judged]:
    return [one for of in read.tasks.values() for one in of.judged.values()]


def _parts(read: Gathered) -> Sequence[Part]:
    parts: list[Part] = [Prose(read.provenance)] if read.provenance else []
    for task, of in read.tasks.items():
        parts.append(Heading(of.rubric.title, 2, task))
        for one in of.judged.values():
            machines = one.by_machines
            noted = list(notes_on(one, ()))
            beside = [] if machines is None else list(notes_on(machines, ()))
            if noted:
                parts += [Heading(one.title, 3, f"{task}-{one.model}"), *noted]
            if beside:
                title = f"{one.title}, by language models"
                parts += [Heading(title, 3, f"{task}-{one.model}-beside"), *beside]
    return parts


def _as_data(read: Gathered) -> list[dict[str, Any]]:
    every = [each for one in _judged(read) for each in (one, one.by_machines) if each is not None]
    return [
        _note(one, card, placed)
        for one in every
        for card, places in zip(one.cards, one.placed, strict=True)
        for placed in places
    ]


def _note(one: Judged, card: Scorecard, placed: Placed) -> dict[str, Any]:
    note = placed.note
    return {
        "task": one.submission.task,
        "model": one.model,
        "judge": card.judge,
        "judge_kind": card.judge_kind,
        "kind": note.kind,
        "severity": note.severity,
        "text": note.text,
        "file": note.file,
        "lines": None if note.lines is None else list(note.lines),
        "place": placed.standing,
    }
