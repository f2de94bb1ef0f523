"""How ``judge-tui add`` writes submissions into the workspace: all of them, or nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from judge_tui.checks.errors import UsageError, WorkspaceError
from judge_tui.checks.submission import META, Submission, read_meta
from judge_tui.judging.document import render_toml

__all__ = ["Arrival", "write_all"]


@dataclass(frozen=True, slots=True)
class Arrival:
    """A submission that is to be written.

    Attributes:
        source: Where it is from, for messages.
        target: ``submissions/<model>/<task>``, or ``…@<n>``, which is not there yet.
        files: Relative POSIX path → content.
        meta: What its ``submission.toml`` says, where the files bring none.
    """

    source: str
    target: Path
    files: Mapping[str, bytes]
    meta: Mapping[str, str]


def write_all(arrivals: Sequence[Arrival]) -> tuple[Submission, ...]:
    """Write submissions to where they are kept; what fails leaves nothing behind of any.

    Args:
        arrivals: The submissions, each with a folder of its own.

    Raises:
        JudgeError: One has no file, or cannot be written.
    """
    with ExitStack() as undone:
        for arrival in arrivals:
            undone.enter_context(_folders_for(arrival.target))
            _write(arrival, undone.enter_context(_partial(arrival.target)))
        for arrival in arrivals:
            with _told_of(arrival):
                _partial_of(arrival.target).rename(arrival.target)
            undone.enter_context(_taken_back(arrival.target))
    return tuple(Submission.at(arrival.target) for arrival in arrivals)


def _partial_of(target: Path) -> Path:
    return target.with_name(f".{target.name}.partial")


def _write(arrival: Arrival, partial: Path) -> None:
    with _told_of(arrival):
        partial.mkdir(parents=True)
        for name, data in arrival.files.items():
            file = partial / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        if META not in arrival.files:
            kept = {key: value for key, value in arrival.meta.items() if value}
            (partial / META).write_text(render_toml(kept), encoding="utf-8")
        read_meta(partial / META)
        if not Submission.at(partial).files:
            raise UsageError(
                f"there is no file to add in {arrival.source}.",
                hint="Hidden files, caches and links are left out, and submission.toml alone is nothing.",
            )


@contextmanager
def _told_of(arrival: Arrival) -> Iterator[None]:
    """Tell of what was brought, and not of the folder on its way."""
    partial = _partial_of(arrival.target)
    try:
        yield
    except OSError as error:
        where = Path(error.filename or arrival.target)
        place = arrival.target / where.relative_to(partial) if where.is_relative_to(partial) else where
        raise WorkspaceError(f"cannot be written: {place}: {error.strerror}.", file=arrival.source) from error
    except WorkspaceError as error:
        if error.file and Path(error.file).is_relative_to(partial):
            error.file = os.path.join(arrival.source, Path(error.file).relative_to(partial))
        raise


@contextmanager
def _partial(target: Path) -> Iterator[Path]:
    """The folder in which a submission is made before it is one, gone afterwards if it is still there."""
    partial = _partial_of(target)
    shutil.rmtree(partial, ignore_errors=True)
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def _taken_back(target: Path) -> Iterator[None]:
    """Take a submission away again that was written before another one failed."""
    try:
        yield
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


@contextmanager
def _folders_for(target: Path) -> Iterator[None]:
    """Take the folders above away again that were made for what failed."""
    missing = [folder for folder in target.parents if not folder.exists()]
    try:
        yield
    except BaseException:
        for folder in missing:
            # one that something else stands in stays
            with suppress(OSError):
                folder.rmdir()
        raise
