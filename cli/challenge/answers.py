"""Answers that a challenge brings: right/ and wrong/, and the submissions of a problem package."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judge_tui.checks.submission import Submission
from judge_tui.checks.trying.challenge import Wrong
from judge_tui.judging.challenges.packages import package_in
from judge_tui.judging.document import read_document
from judge_tui.judging.folders import folders_in

__all__ = ["answers_in"]

_RIGHT, _WRONG = "right", "wrong"


@contextmanager
def answers_in(folder: Path) -> Iterator[tuple[list[Path], list[Wrong]]]:
    """Folders of answers that must pass, and answers that must fail.

    Args:
        folder: The challenge's.

    Raises:
        WorkspaceError: A file of it is malformed.
    """
    right = [folder / _RIGHT / each for each in folders_in(folder / _RIGHT, folder)]
    wrong = [_must_fail(folder / _WRONG / each) for each in folders_in(folder / _WRONG, folder)]
    package = package_in(folder)
    with tempfile.TemporaryDirectory() as place:
        if package is not None:
            listed = Submission("", folder.name, folder)
            right += [_laid_out(listed, each, Path(place)) for each in package.right]
            wrong += [Wrong(_laid_out(listed, each, Path(place))) for each in package.wrong]
        yield right, wrong


def _must_fail(path: Path) -> Wrong:
    file = path / "submission.toml"
    return Wrong(path, read_document(file).strings("must_fail") if file.is_file() else ())


def _laid_out(package: Submission, answer: str, place: Path) -> Path:
    """A submission of a package, which may be a lone file, as a folder."""
    folder = place / answer
    for file in package.files:
        if file == answer or file.startswith(f"{answer}/"):
            path = folder / (file.removeprefix(f"{answer}/") if file != answer else Path(file).name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(package.read_bytes(file))
    return folder
