"""``judge-tui demo``: a small workspace to try things in, from the installed package alone."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path

import click

from judge_tui.checks.errors import WorkspaceError
from judge_tui.cli import options
from judge_tui.cli.home import show
from judge_tui.cli.new_folder import shown_path, write_new
from judge_tui.cli.screen import on_screen
from judge_tui.judging.workspace import CONFIG, Workspace

__all__ = ["command", "demo_files"]

#: By which an earlier one is known.
_TITLE = "judge-tui demo"
_COMPILED = "__pycache__"
_TOLD = """\
  cosine    a challenge of numbers: a reference in NumPy
  lru       of behaviour: the judge's own tests
  meetings  of programs: input, and what must come out
  kv        a built-in task, with two answers
Of each challenge one answer is right, one is subtly wrong and one misses an edge.
Next:{into}
  judge-tui
  judge-tui check --task cosine
  judge-tui compare amber birch cedar --task lru
  judge-tui challenge new mine"""


@click.command("demo")
@click.argument("folder", type=options.FOLDER, default=Path("judge-tui-demo"))
def command(folder: Path) -> int:
    """Write a small workspace to try things in, and open it.

    It has a challenge of each kind with three answers, and two caches of keys and values. FOLDER is
    judge-tui-demo by default; an earlier demo in it is opened as it is.
    """
    earlier = _is_demo(folder)
    if not earlier:
        _refuse_full(folder)
        write_new(folder, demo_files())
    if on_screen():
        return show(Workspace.at(folder))
    shown = shown_path(folder)
    into = "" if shown == "." else f"\n  cd {shlex.quote(shown)}"
    click.echo(f"{shown}: {'the demo of before' if earlier else 'a workspace to try things in'}.")
    click.echo(_TOLD.format(into=into))
    return 0


def demo_files() -> dict[str, bytes]:
    """The files of the demo: relative POSIX path → content.

    Raises:
        WorkspaceError: They are not installed.
    """
    spec = find_spec("judge_tui.demo")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        root = Path(place)
        if (root / CONFIG).is_file():
            found = (path for path in sorted(root.rglob("*")) if path.is_file())
            return {
                path.relative_to(root).as_posix(): path.read_bytes()
                for path in found
                if _COMPILED not in path.relative_to(root).parts
            }
    raise WorkspaceError("the demo's files are not installed.", hint="Install judge-tui anew.")


def _is_demo(folder: Path) -> bool:
    return (folder / CONFIG).is_file() and Workspace.at(folder).settings.title == _TITLE


def _refuse_full(folder: Path) -> None:
    try:
        full = folder.is_dir() and any(folder.iterdir())
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", file=folder) from error
    if full:
        raise WorkspaceError(
            "is not empty, and nothing is overwritten.",
            hint="Name another folder: judge-tui demo FOLDER",
            file=shown_path(folder),
        )
