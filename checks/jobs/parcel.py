"""A submission as bytes: its snapshot, so that another machine judges the same and needs no shared folder.

What is told of it there is what would be told here: its place, what is left out of it, and what is wrong with
its ``submission.toml``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

import msgspec

from judge_tui.checks.errors import EngineError, JudgeError, WorkspaceError
from judge_tui.checks.regular_files import open_regular
from judge_tui.checks.snapshot import MOST_BYTES, released_with
from judge_tui.checks.submission import ADAPTER, META, Submission, SubmissionMeta
from judge_tui.checks.temporary import new_folder
from judge_tui.checks.unlisted import Unlisted

__all__ = ["digest_of", "packed", "unpacked"]

_Files = tuple[tuple[str, bytes], ...]


class _Trouble(msgspec.Struct, frozen=True):
    """What is wrong with a ``submission.toml``, as :class:`WorkspaceError` has it."""

    message: str
    hint: str
    file: str | None
    line: int | None


class _Parcel(msgspec.Struct, frozen=True):
    """A snapshot.

    Attributes:
        model: Of the submission.
        task: Of the submission.
        place: Its folder, for messages.
        files: Relative path → bytes.
        overlays: The judge's side files, a table per folder.
        troubles: File → why it could not be read.
        meta: What its tables say together.
        wrong: What is wrong with them, where something is.
        bound: Digest of what tells how it is called.
        unlisted: What lies there and is no part of it.
        left_out: The same with hidden code, by name.
    """

    model: str
    task: str
    place: str
    files: _Files
    overlays: tuple[_Files, ...]
    troubles: dict[str, str]
    meta: SubmissionMeta | None
    wrong: _Trouble | None
    bound: str
    unlisted: tuple[Unlisted, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True)
class _Arrived(Submission):
    """What a snapshot was taken of, on another machine: nothing of it is here but what was told."""

    told: SubmissionMeta | None = field(default=None, repr=False, compare=False)
    wrong: _Trouble | None = field(default=None, repr=False, compare=False)

    @cached_property
    def meta(self) -> SubmissionMeta:
        """What its tables say, as was found there.

        Raises:
            WorkspaceError: They were malformed.
        """
        if (wrong := self.wrong) is not None:
            raise WorkspaceError(wrong.message, hint=wrong.hint, file=wrong.file, line=wrong.line)
        return self.told or SubmissionMeta()


def packed(submission: Submission) -> bytes:
    """A submission as bytes.

    Args:
        submission: The submission, or a snapshot of it.

    Raises:
        WorkspaceError: It cannot be listed, or is too large.
        EngineError: There is no room for its snapshot.
    """
    held = submission.held
    return msgspec.msgpack.encode(
        _Parcel(
            held.model,
            held.task,
            str(held.place),
            _read(held.path, held.files),
            tuple(_read(folder, _there(folder)) for folder in held.overlays),
            dict(held.troubles),
            *_told(held),
            held.binding_digest,
            held.unlisted,
            held.left_out,
        )
    )


def digest_of(parcel: bytes) -> str:
    """``sha256:…`` of what :func:`packed` gave."""
    return f"sha256:{hashlib.sha256(parcel).hexdigest()}"


def _told(held: Submission) -> tuple[SubmissionMeta | None, _Trouble | None]:
    try:
        meta = held.meta
        msgspec.msgpack.encode(meta)
    except JudgeError as error:
        return None, _Trouble(error.message, error.hint, error.file, error.line)
    except (OverflowError, TypeError, ValueError) as error:
        return None, _Trouble(f"has a value that cannot be sent: {error}.", "", str(held.place / META), None)
    return meta, None


def _there(folder: Path) -> list[str]:
    return [name for name in (META, ADAPTER) if (folder / name).is_file()]


def _read(folder: Path, names: tuple[str, ...] | list[str]) -> _Files:
    found = []
    for name in names:
        with open_regular(folder / name) as file:
            found.append((name, file.read()))
    return tuple(found)


def unpacked(parcel: bytes) -> Submission:
    """The snapshot that a parcel holds, in a folder that goes when nothing refers to it any more.

    Args:
        parcel: What :func:`packed` gave.

    Raises:
        EngineError: It is none, or there is no room for it.
    """
    try:
        found = msgspec.msgpack.decode(parcel, type=_Parcel)
    except msgspec.MsgspecError as error:
        raise EngineError(f"a submission arrived broken: {error}") from error
    if sum(len(data) for _name, data in found.files) > MOST_BYTES:
        raise EngineError(f"a submission of more than {MOST_BYTES >> 30} GiB arrived.")
    try:
        root = new_folder("snapshot")
        folders = [_filled(root / str(at), files) for at, files in enumerate((found.files, *found.overlays))]
    except OSError as error:
        raise EngineError(f"there is no room for a submission: {error.strerror}.") from error
    source = _Arrived(found.model, found.task, Path(found.place), told=found.meta, wrong=found.wrong)
    taken = Submission(found.model, found.task, folders[0], tuple(folders[1:]), source, found.troubles)
    released_with(taken, root)
    taken.settle(found.bound, found.unlisted, found.left_out)
    return taken


def _filled(folder: Path, files: _Files) -> Path:
    folder.mkdir()
    for name, data in files:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise EngineError(f"a submission arrived with a file out of its folder: {name!r}")
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder
