"""``judge-tui report``: what judges wrote, as a document that can be published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.cli import options
from judge_tui.judging.folders import kept_inside
from judge_tui.judging.plain import plain
from judge_tui.judging.storage import read_bytes, write_atomically
from judge_tui.judging.summaries.asked import SHAPES, Asked, report_of
from judge_tui.judging.workspace import Workspace

if TYPE_CHECKING:
    from judge_tui.judging.summaries.parts import Report

__all__ = ["command"]

_FORMATS = {".md": "md", ".markdown": "md", ".html": "html", ".htm": "html", ".json": "json"}


@click.command("report")
@click.argument("shape", type=click.Choice([*SHAPES]))
@click.argument("models", nargs=-1, metavar="[MODEL]...", shell_complete=options.complete_model)
@options.task(several=True)
@click.option(
    "--judge", "judges", multiple=True, metavar="NAME", help="Whose words count; everybody's by default."
)
@click.option("--round", "rounds", multiple=True, metavar="ID", help="A round, as rounds/ID.toml has it.")
@click.option("--against", default="", metavar="ID", help="An earlier round: what has changed since.")
@click.option(
    "--published/--own", default=None,
    help="What was published on other files, or what is said of those here; the latter, where there is any.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["md", "html", "json"]),
    help="The format; by default what the name of the file says, else md.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write it there instead of to standard output.",
)  # fmt: skip
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when FILE says something else.")
@options.workspace
def command(
    shape: str,
    models: tuple[str, ...],
    tasks: tuple[str, ...],
    judges: tuple[str, ...],
    rounds: tuple[str, ...],
    against: str,
    published: bool | None,
    form: str | None,
    output: Path | None,
    check: bool,
    workspace: Path | None,
) -> int:
    """Make a document of scorecards and matchups.

    \b
      two-way        task by task: criteria, who is ahead in what, the winner
      head-to-head   grades, strengths, weaknesses with their lines, what was run, who wins; a ranking
      round          a scoreboard with winners and margins, task by task, and the judge's prose of a --round
      combined       several rounds in one: those named by --round, or all
      standings      who is ahead and whether that is real, how far judges agree, what sways them
      metrics        figures of stored check outcomes, side by side

    Any number of models can be named; all that are scored are taken when none is. An HTML file needs no
    network and no script. `report.md.j2` or `report.html.j2` in the workspace's templates/ stands in
    for the shipped one.
    """
    if check and output is None:
        raise UsageError("--check compares a file.", hint="Say which: -o FILE")
    found = options.open_workspace(workspace, None, None)
    report = report_of(found, Asked(shape, models, tasks, judges, rounds, against, published))
    for fault in report.faults:
        click.echo(f"judge-tui: left out: {plain(fault)}", err=True)
    text = _rendered(report, form or _FORMATS.get(output.suffix.lower() if output else "", "md"), found)
    if output is None:
        click.echo(text, nl=False)
        return 0
    data = text.encode()
    stale = read_bytes(output) != data
    if check:
        click.echo(f"{output}: {'is stale' if stale else 'is up to date'}.", err=stale)
        return int(stale)
    if stale:
        write_atomically(output, data)
    click.echo(f"{output}: {'is written' if stale else 'is up to date'}.")
    return 0


def _rendered(report: Report, form: str, workspace: Workspace) -> str:
    from judge_tui.reports.data import as_json
    from judge_tui.reports.rendering import TEMPLATES, html, markdown

    if form == "json":
        return as_json(report)
    own: Path | None = None
    try:
        own = kept_inside(workspace.root / TEMPLATES, workspace.root)
    except WorkspaceError as error:
        click.echo(f"judge-tui: {plain(str(error))}", err=True)
    return (html if form == "html" else markdown)(report, own)
