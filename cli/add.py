"""``judge-tui add``: bring a folder in as a submission."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from judge_tui.checks.errors import UsageError
from judge_tui.checks.lines import count_lines
from judge_tui.checks.sources import absence, is_binary
from judge_tui.checks.submission import META, Submission
from judge_tui.checks.unlisted import sentence
from judge_tui.cli import options
from judge_tui.cli.copying import copy_in, left_behind
from judge_tui.judging.folders import kept_inside
from judge_tui.judging.naming import folder_name, normalized
from judge_tui.judging.plain import plain
from judge_tui.judging.wording import counted
from judge_tui.judging.workspace import Workspace

__all__ = ["command"]


@click.command("add")
@click.argument("source", type=click.Path(path_type=Path), metavar="FOLDER")
@click.option(
    "--model", required=True, metavar="M", help="Whose work it is.", shell_complete=options.complete_model
)
@options.task(required=True)
@click.option("--title", metavar="TEXT", help="Display name of the model.")
@click.option("--origin", metavar="TEXT", default="submission", show_default=True, help="What it is.")
@click.option("--from", "provenance", metavar="TEXT", default="", help="Where it comes from.")
@options.workspace
def command(
    source: Path,
    model: str,
    task: str,
    title: str | None,
    origin: str,
    provenance: str,
    workspace: Path | None,
) -> None:
    """Copy a folder, or a single file, into the workspace as a submission.

    Hidden files, caches and symbolic links are left out; links, and names that are not UTF-8, are told.
    Nothing is ever overwritten.
    """
    found = options.open_workspace(workspace, None, None)
    chosen, folder = found.task(task, whole=True), _model(found, model)
    target = kept_inside(found.submissions / folder / chosen, found.submissions)
    if target.exists() or target.is_symlink():
        raise UsageError(f"{folder} has a submission for {chosen} already.", hint=f"Remove {target} first.")
    added = copy_in(source, target, {"origin": origin, "source": provenance, "model": title or ""})
    texts = [added.read_text(name) for name in added.files if not is_binary(added.read_bytes(name))]
    lines = counted(sum(map(count_lines, texts)), "line")
    click.echo(plain(f"{folder} · {chosen}: {counted(len(added.files), 'file')}, {lines}, in {target}"))
    for warning in _warnings(added, source, bool(title or provenance)):
        click.echo(plain(f"judge-tui: {warning}"), err=True)
    click.echo(plain(f"Next: judge-tui check {shlex.quote(folder)} --task {shlex.quote(chosen)}"))


def _model(workspace: Workspace, name: str) -> str:
    # a known model in another spelling is the same model; a mere prefix is a new one
    checked = folder_name(name)
    known = {normalized(alias): model for alias, model in workspace.settings.aliases.items()}
    known |= {normalized(model): model for model in workspace.models()}
    spelling = normalized(checked)
    return known.get(spelling, checked) if spelling else checked


def _warnings(added: Submission, source: Path, described: bool) -> list[str]:
    """What whoever added it has to know, a sentence each."""
    told = [left] if (left := sentence(left_behind(source))) else []
    missing = absence(added).partition(": ")[2]
    if missing or all(is_binary(added.read_bytes(name)) for name in added.files):
        told.append(f"there is no source file among them: {missing or 'they are no text'}.")
    if newer := added.meta.newer:
        told.append(newer)
    if described and (source / META).is_file():
        told.append(f"{source / META} is kept as it is, so that --title and --from are not in it.")
    return told
