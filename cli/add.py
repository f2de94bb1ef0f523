"""``judge-tui add``: bring in as a submission what people have of a model's work."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast

import click

from judge_tui.checks.attempts import attempt_name
from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.checks.lines import count_lines
from judge_tui.checks.sources import absence, is_binary
from judge_tui.checks.submission import META, Submission
from judge_tui.cli import options
from judge_tui.cli.adding import NEXT, PIPE, Adding, Wanted, about, content, planned
from judge_tui.cli.adding_samples import planned_samples
from judge_tui.cli.bringing.answers import ANSWER
from judge_tui.cli.bringing.recognising import FORMS, form_of
from judge_tui.cli.copying import Arrival, write_all
from judge_tui.judging.containers import unopened
from judge_tui.judging.plain import plain
from judge_tui.judging.wording import counted

if TYPE_CHECKING:
    from judge_tui.cli.bringing.recognising import Form
    from judge_tui.judging.workspace import Workspace

__all__ = ["command"]

#: Faults, and answers, that are told; more of them say the same.
_FAULTS_TOLD, _TOLD = 50, 20


def _attempt(_: click.Context, option: click.Parameter, value: str | None) -> int | None:
    if value is None:
        return None
    if value == "next":
        return NEXT
    if not value.isdecimal() or len(value) > 9 or int(value) < 1:
        raise UsageError(
            f"'{value}' is no number of an attempt.",
            hint="Say --attempt N, or --attempt behind everything else for the next free one.",
        )
    return int(value)


@click.command("add")
@click.argument("source", type=click.Path(path_type=Path, allow_dash=True), metavar="SOURCE")
@click.option("--model", metavar="M", help="Whose work it is.", shell_complete=options.complete_model)
@options.task()
@click.option(
    "--attempt", is_flag=False, flag_value="next", metavar="[N]", callback=_attempt,
    help="A further answer of the model: the next, or that of number N.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(FORMS),
    help="What SOURCE is, where that is not to be seen from it; 'files' takes it as it is.",
)  # fmt: skip
@click.option("--title", metavar="TEXT", help="Display name of the model.")
@click.option("--origin", metavar="TEXT", default="submission", show_default=True, help="What it is.")
@click.option("--from", "provenance", metavar="TEXT", default="", help="Where it comes from.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@options.workspace
def command(
    source: Path,
    model: str | None,
    task: str | None,
    attempt: int | None,
    form: str | None,
    title: str | None,
    origin: str,
    provenance: str,
    dry_run: bool,
    workspace: Path | None,
) -> int:
    """Make submissions of what SOURCE is, all of it or nothing.

    \b
    a file or a folder       taken as it is
    a zip or tar archive     unpacked
    Markdown                 a chat answer: the code in its fences
    a notebook (.ipynb)      the code of its cells
    samples (.jsonl)         a line for each answer: model, task, completion
    -                        any of these, from standard input

    What is left out is told: links, hidden files, caches, archives within, fences that are no code. Nothing
    is ever overwritten.
    """
    found = options.open_workspace(workspace, None, None)
    meta = {"origin": origin, "source": provenance, "model": title or ""}
    wanted = Wanted(source, model or "", task or "", attempt, meta)
    faults: list[tuple[int, str]] = []
    with about(wanted):
        plan = _plan(found, wanted, cast("Form | None", form), faults)
    if faults:
        return _refused(wanted, faults)
    if dry_run:
        with _aside() as folder:
            # what would be wrong with it is wrong there, too
            _tell(plan, write_all([_moved(one, folder) for one in plan]), wanted, dry_run)
    else:
        _tell(plan, write_all([one.arrival for one in plan]), wanted, dry_run)
    return 0


def _plan(
    workspace: Workspace, wanted: Wanted, form: Form | None, faults: list[tuple[int, str]]
) -> Sequence[Adding]:
    data = content(wanted)
    if data is None and form not in (None, "files"):
        raise UsageError(f"{wanted.called} is a folder, and --format {form} is for a file.")
    if data is None:
        return [planned(workspace, wanted, data, "files")]
    form = form or form_of(wanted.source.name, data, piped=wanted.source == PIPE)
    if form == "samples":
        return planned_samples(workspace, wanted, data, faults)
    return [planned(workspace, wanted, data, form)]


@contextmanager
def _aside() -> Iterator[Path]:
    try:
        folder = TemporaryDirectory()
    except OSError as error:
        told = f"there is no folder of temporary files for a dry run: {error.strerror}."
        raise WorkspaceError(told, hint="Name one in $TMPDIR.") from error
    with folder as name:
        yield Path(name)


def _moved(one: Adding, folder: Path) -> Arrival:
    return replace(one.arrival, target=folder / one.model / attempt_name(one.task, one.attempt))


def _refused(wanted: Wanted, faults: Sequence[tuple[int, str]]) -> int:
    for line, sentence in sorted(faults)[:_FAULTS_TOLD]:
        click.echo(plain(f"judge-tui: {wanted.called}:{line}: {sentence}"), err=True)
    more = f", {len(faults) - _FAULTS_TOLD} of them not told here" if len(faults) > _FAULTS_TOLD else ""
    click.echo(f"judge-tui: nothing was added: {counted(len(faults), 'fault')}{more}.", err=True)
    return 2


def _tell(plan: Sequence[Adding], added: Sequence[Submission], wanted: Wanted, dry_run: bool) -> None:
    for one, submission in list(zip(plan, added, strict=True))[:_TOLD]:
        click.echo(plain(_sentence(one, submission, dry_run)))
        subject = f"{one.name} · {one.task}: " if len(plan) > 1 else ""
        for warning in (*one.told, *_warnings(one, submission, wanted)):
            click.echo(plain(f"judge-tui: {subject}{warning}"), err=True)
    if rest := plan[_TOLD:]:
        some = sum(bool(one.told) for one in rest)
        click.echo(f"… and {len(rest)} more" + (f"; of {some} something is to be told" if some else ""))
    bare = sum(set(one.arrival.files) <= {ANSWER} for one in plan)
    if bare and len(plan) > 1:
        click.echo(f"judge-tui: {counted(bare, 'answer')} without code.", err=True)
    if len(plan) > 1:
        click.echo(f"{counted(len(plan), 'answer')} {'would be ' if dry_run else ''}added.")
    if not dry_run:
        click.echo(plain(f"Next: judge-tui check {_next(plan)}"))


def _sentence(one: Adding, submission: Submission, dry_run: bool) -> str:
    texts = [submission.read_text(name) for name in submission.files if not _is_binary(submission, name)]
    lines = counted(sum(map(count_lines, texts)), "line")
    files = counted(len(submission.files), "file")
    named = f": {', '.join(submission.files[:_TOLD])}" if dry_run else ""
    would = "would be " if dry_run else ""
    return f"{one.name} · {one.task}: {would}{files}, {lines}, in {one.arrival.target}{named}"


def _next(plan: Sequence[Adding]) -> str:
    models, tasks = {one.name for one in plan}, {one.task for one in plan}
    named = shlex.quote(models.pop()) + " " if len(models) == 1 else ""
    return f"{named}--task {shlex.quote(tasks.pop())}" if len(tasks) == 1 else named.strip()


def _is_binary(submission: Submission, name: str) -> bool:
    return is_binary(submission.read_bytes(name))


def _warnings(one: Adding, added: Submission, wanted: Wanted) -> list[str]:
    """What whoever added it has to know, a sentence each."""
    told: list[str] = []
    missing = absence(added).partition(": ")[2]
    if missing or all(_is_binary(added, name) for name in added.files):
        told.append(f"there is no source file among them: {missing or 'they are no text'}.")
    if closed := unopened(added):
        told.append(closed)
    if newer := added.meta.newer:
        told.append(newer)
    if (wanted.meta["model"] or wanted.meta["source"]) and META in one.arrival.files:
        told.append(f"{wanted.source / META} is kept as it is, so that --title and --from are not in it.")
    return told
