"""``judge-tui report``: what judges wrote, as a document that can be published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.cli import options
from judge_tui.judging.folders import kept_inside
from judge_tui.judging.plain import plain
from judge_tui.judging.storage import read_bytes, write_atomically
from judge_tui.judging.summaries.gathered import Gathered, gathered
from judge_tui.judging.summaries.head_to_head import head_to_head
from judge_tui.judging.summaries.two_way import two_way
from judge_tui.judging.workspace import Workspace

if TYPE_CHECKING:
    from judge_tui.judging.summaries.parts import Report

__all__ = ["command"]

_SHAPES: dict[str, Callable[[Gathered], Report]] = {"two-way": two_way, "head-to-head": head_to_head}
_FORMATS = {".md": "md", ".markdown": "md", ".html": "html", ".htm": "html", ".json": "json"}


@click.command("report")
@click.argument("shape", type=click.Choice([*_SHAPES]))
@click.argument("models", nargs=-1, metavar="[MODEL]...", shell_complete=options.complete_model)
@options.task(several=True)
@click.option(
    "--judge", "judges", multiple=True, metavar="NAME", help="Whose words count; everybody's by default."
)
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

    Any number of models can be named; head-to-head takes all that are scored when none is. An HTML file
    needs no network and no script. `report.md.j2` or `report.html.j2` in the workspace's templates/ stands in
    for the shipped one.
    """
    if check and output is None:
        raise UsageError("--check compares a file.", hint="Say which: -o FILE")
    found = options.open_workspace(workspace, None, None)
    report = _SHAPES[shape](_read(found, shape, models, tasks, judges, published))
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


def _read(
    workspace: Workspace,
    shape: str,
    models: tuple[str, ...],
    tasks: tuple[str, ...],
    judges: tuple[str, ...],
    published: bool | None,
) -> Gathered:
    """What was asked for.

    Raises:
        UsageError: A name means nothing, or nobody has said a word on it.
    """
    chosen = [workspace.task(name) for name in tasks] or list(workspace.tasks())
    named = list(dict.fromkeys(workspace.model(name, *chosen) for name in models))
    if shape == "two-way" and len(named) < 2:
        raise UsageError("a two-way report compares two models.", hint="Name them: report two-way A B")
    found = gathered(workspace, named, chosen, judges, published=published)
    if not found.tasks and not found.faults:
        whom = " and ".join(named) or "any model"
        on = f" on {', '.join(chosen)}" if tasks else ""
        raise UsageError(
            f"nobody has scored {whom}{on} yet{f', as {plain(judges[0])}' if judges else ''}.",
            hint=f"Score them: judge-tui compare {' '.join(named) or 'A B'} --task {chosen[0]}",
        )
    return found


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
