"""``judge-tui challenge import``: other people's problems as challenges of one's own, unedited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import click

from judge_tui.checks.errors import JudgeError, UsageError, WorkspaceError
from judge_tui.cli import options
from judge_tui.cli.importing.imported import Imported, task_id
from judge_tui.cli.new_folder import shown_path, write_new
from judge_tui.cli.table import columns, wrapped
from judge_tui.judging.challenges.found import CHALLENGES
from judge_tui.judging.folders import is_there, kept_inside
from judge_tui.judging.plain import plain
from judge_tui.judging.wording import counted

__all__ = ["command"]

#: Formats; each has a module and a function of its name.
_FORMATS = ("kernelbench", "gpumode", "kattis")


@click.command("import")
@click.argument("form", metavar="FORMAT", type=click.Choice(_FORMATS))
@click.argument("source", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--as", "name", metavar="NAME", default="", help="What the challenge is to be called.")
@options.workspace
def command(form: str, source: Path, name: str, workspace: Path | None) -> int:
    """Make a challenge of somebody else's problem, without editing it.

    \b
    kernelbench   a file with Model, get_inputs and get_init_inputs, or a folder of them
    gpumode       a folder with task.yml and reference.py
    kattis        a problem package: a folder with problem.yaml, or an archive of one

    Its files lie in challenges/NAME afterwards, as they were. Sizes are scaled down for correctness and kept
    for timing. Nothing of it runs outside of a jail, and nothing is ever overwritten.
    """
    root = options.open_workspace(workspace, None, None).root
    found = _importer(form)(source)
    if not source.is_dir() or form != "kernelbench":
        for each in found:
            _write(each, name, root)
        return 0
    if name:
        raise UsageError(f"{source} is a folder of problems: --as names one.", hint="Name one file.")
    return _written(found, root)


def _written(found: Iterator[Imported | JudgeError], root: Path) -> int:
    """Write one challenge after another; what is wrong with one keeps no other back."""
    made, failed = 0, 0
    for each in found:
        try:
            _write(each, "", root)
            made += 1
        except JudgeError as error:
            click.echo(plain(str(error)), err=True)
            failed += 1
    click.echo(f"{counted(made, 'challenge')} imported, {failed} not.")
    return 2 if failed else 0


def _importer(form: str) -> Callable[[Path], Iterator[Imported | JudgeError]]:
    # imported when it is asked for: the help needs none of them
    importer: Callable[[Path], Iterator[Imported | JudgeError]] = getattr(
        import_module(f"judge_tui.cli.importing.{form}"), form
    )
    return importer


def _write(each: Imported | JudgeError, name: str, root: Path) -> None:
    if isinstance(each, JudgeError):
        raise each
    task = task_id(each.called, name)
    folder = kept_inside(root / CHALLENGES / task, root)
    if is_there(folder):
        raise WorkspaceError(
            "is there already, and nothing is overwritten.",
            hint="Say another name with --as NAME.", file=shown_path(folder),
        )  # fmt: skip
    write_new(folder, each.files)
    click.echo(f"{shown_path(folder)}: {counted(len(each.files), 'file')}.")
    for sentence in each.told:
        click.echo("  " + wrapped(plain(sentence), columns(), 2))
    click.echo(f"  judge-tui challenge check {task}")
