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

_FORMATS = {
    ".md": "md", ".markdown": "md", ".html": "html", ".htm": "html", ".json": "json", ".jsonl": "jsonl",
    ".csv": "csv",
}  # fmt: skip


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
    "--format", "form", type=click.Choice(["md", "html", "json", "jsonl", "csv"]),
    help="The format; by default what the name of the file says, else md.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write it there instead of to standard output.",
)  # fmt: skip
@click.option(
    "--assets", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Write the plots of a Markdown file as SVG files there, and show them in it as pictures.",
)  # fmt: skip
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when FILE says something else.")
@options.workspace
def command(
    *,
    shape: str,
    models: tuple[str, ...],
    tasks: tuple[str, ...],
    judges: tuple[str, ...],
    rounds: tuple[str, ...],
    against: str,
    published: bool | None,
    form: str | None,
    output: Path | None,
    assets: Path | None,
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
      metrics        figures of stored check outcomes, side by side; where none is stored, published ones

    Any number of models can be named; all that are scored are taken when none is. An HTML file needs no
    network and no script. `report.md.j2` or `report.html.j2` in the workspace's templates/ stands in
    for the shipped one.
    """
    if check and output is None:
        raise UsageError("--check compares a file.", hint="Say which: -o FILE")
    form = form or _FORMATS.get(output.suffix.lower() if output else "", "md")
    if assets is not None and (form != "md" or output is None):
        raise UsageError(
            "--assets is for a Markdown file, which shows the pictures.",
            hint="HTML and JSON hold their plots: report SHAPE -o FILE.md --assets DIR",
        )
    found = options.open_workspace(workspace, None, None)
    report = report_of(found, Asked(shape, models, tasks, judges, rounds, against, published))
    for fault in report.faults:
        click.echo(f"judge-tui: left out: {plain(fault)}", err=True)
    if output is None:
        click.echo(_rendered(report, form, found, {}), nl=False)
        return 0
    stale = False
    pictures: dict[str, str] = {}
    if assets is not None:
        pictures, stale = _pictures(report, output, assets, check=check)
    stale |= _refresh(output, _rendered(report, form, found, pictures).encode(), check=check)
    return int(check and stale)


def _pictures(report: Report, output: Path, assets: Path, *, check: bool) -> tuple[dict[str, str], bool]:
    """Write the plots where they say something else; their addresses, and whether they did."""
    from judge_tui.reports.plotting import addresses, pictures_of, refresh

    made = pictures_of(report, output.stem)
    stale = refresh(assets, made, write=not check)
    for path in stale:
        click.echo(f"{path}: {'is stale' if check else 'is written'}.", err=check)
    return addresses(assets, output, made), bool(stale)


def _refresh(output: Path, data: bytes, *, check: bool) -> bool:
    """Write the document where it says something else, and tell whether it did."""
    stale = read_bytes(output) != data
    if stale and not check:
        write_atomically(output, data)
    said = "is up to date" if not stale else "is stale" if check else "is written"
    click.echo(f"{output}: {said}.", err=stale and check)
    return stale


def _rendered(report: Report, form: str, workspace: Workspace, pictures: dict[str, str]) -> str:
    from judge_tui.reports.data import as_csv, as_json, as_jsonl
    from judge_tui.reports.rendering import TEMPLATES, html, markdown

    data = {"json": as_json, "jsonl": as_jsonl, "csv": as_csv}
    if form in data:
        return data[form](report)
    own: Path | None = None
    try:
        own = kept_inside(workspace.root / TEMPLATES, workspace.root)
    except WorkspaceError as error:
        click.echo(f"judge-tui: {plain(str(error))}", err=True)
    return html(report, own) if form == "html" else markdown(report, own, pictures)
