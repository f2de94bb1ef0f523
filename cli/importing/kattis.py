"""Problem packages of Kattis: a folder or an archive, taken as it is, since a challenge may be one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from judge_tui.checks.challenges.challenge import CASES, PACKAGE, kinds_of
from judge_tui.checks.challenges.programs.kattis import TIME_LIMIT
from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.regular_files import open_regular
from judge_tui.cli.bringing.archives import from_archive
from judge_tui.cli.bringing.brought import Brought
from judge_tui.cli.bringing.folders import from_folder, one_file, refuse_what_is_none
from judge_tui.cli.importing.imported import Imported
from judge_tui.judging.challenges.packages import package_in

__all__ = ["kattis"]


def kattis(source: Path) -> Iterator[Imported]:
    """The challenge that a problem package is.

    Args:
        source: The package: a folder, or an archive of one.

    Raises:
        JudgeError: It is none, is malformed, or asks for what is not done here.
    """
    refuse_what_is_none(source)
    brought = _brought(source)
    if PACKAGE not in brought.files:
        raise WorkspaceError(
            f"is no problem package: it has no {PACKAGE}.", hint="Name the folder that holds it.", file=source
        )
    _refuse_malformed(source, brought.files)
    if CASES not in kinds_of(tuple(brought.files)):
        raise WorkspaceError("has no case: neither data/sample nor data/secret holds an .in.", file=source)
    yield Imported(source.name.partition(".")[0], brought.files, brought.sentences)


def _brought(source: Path) -> Brought:
    """The files; of the hidden ones that which holds the time limit."""
    if not source.is_dir():
        return from_archive(source.name, one_file(source))
    brought = from_folder(source)
    with suppress(OSError), open_regular(source / TIME_LIMIT) as file:
        return Brought({**brought.files, TIME_LIMIT: file.read()}, brought.left_out)
    return brought


def _refuse_malformed(source: Path, files: Mapping[str, bytes]) -> None:
    with _laid_out(files) as place:
        try:
            package_in(place)
        except WorkspaceError as error:
            # told of the package, and not of the copy that was read
            file = source / Path(error.file or place).relative_to(place)
            raise WorkspaceError(error.message, hint=error.hint, file=file, line=error.line) from error


@contextmanager
def _laid_out(files: Mapping[str, bytes]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for file, data in files.items():
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_bytes(data)
        yield place
