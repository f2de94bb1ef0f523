"""``judge-tui add``: bring a folder in as a submission."""

from __future__ import annotations

import shutil
from pathlib import Path

import click
from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.checks.submission import META, Submission, read_meta
from judge_tui.cli import options
from judge_tui.judging.document import render_toml
from judge_tui.judging.naming import folder_name, normalized
from judge_tui.judging.workspace import Workspace

__all__ = ["command"]

_MAX_BYTES = 64 << 20
_LEFT_OUT = ("__pycache__", "node_modules", "*.pyc", "*.pyo", ".*")


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

    Hidden files, caches and symbolic links are left out; nothing is ever overwritten.
    """
    found = options.open_workspace(workspace, None, None)
    chosen, folder = found.task(task), _model(found, model)
    if not source.exists():
        raise UsageError(f"there is no {source}.")
    target = found.submissions / folder / chosen
    if target.exists():
        raise UsageError(f"{folder} has a submission for {chosen} already.", hint=f"Remove {target} first.")
    added = _copy(source, target, {"origin": origin, "source": provenance, "model": title or ""})
    lines = sum(added.read_text(name).count("\n") for name in added.files)
    click.echo(f"{folder} · {chosen}: {len(added.files)} files, {lines} lines, in {target}")
    click.echo(f"Next: judge-tui check {folder} --task {chosen}")


def _model(workspace: Workspace, name: str) -> str:
    # a known model in another spelling is the same model; a mere prefix is a new one
    checked = folder_name(name)
    known = {normalized(alias): model for alias, model in workspace.settings.aliases.items()}
    known |= {normalized(model): model for model in workspace.models()}
    return known.get(normalized(checked), checked)


def _copy(source: Path, target: Path, meta: dict[str, str]) -> Submission:
    _refuse_giants(source)
    partial = target.with_name(f".{target.name}.partial")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        if source.is_dir():
            shutil.copytree(source, partial, ignore=_ignored)
        else:
            partial.mkdir(parents=True)
            shutil.copy(source, partial)
        if not (partial / META).exists():
            kept = {key: value for key, value in meta.items() if value}
            (partial / META).write_text(render_toml(kept), encoding="utf-8")
        read_meta(partial / META)
        copied = Submission.at(partial, model=target.parent.name, task=target.name)
        if not copied.files:
            raise UsageError(f"there is no file to add in {source}.")
        partial.rename(target)
    except (OSError, shutil.Error) as error:
        raise WorkspaceError(f"cannot be copied: {error}.", file=source) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Submission.at(target)


def _ignored(folder: str, names: list[str]) -> set[str]:
    links = {name for name in names if (Path(folder) / name).is_symlink()}
    return set(shutil.ignore_patterns(*_LEFT_OUT)(folder, names)) | links


def _refuse_giants(source: Path) -> None:
    total = 0
    for path in source.rglob("*") if source.is_dir() else [source]:
        if path.is_file() and not path.is_symlink():
            total += path.stat().st_size
        if total > _MAX_BYTES:
            raise UsageError(
                f"{source} holds more than {_MAX_BYTES >> 20} MiB.",
                hint="Leave build products and data sets out.",
            )
