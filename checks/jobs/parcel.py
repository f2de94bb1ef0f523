"""A submission as bytes: its snapshot, so that another machine judges the same and needs no shared folder.

What is told of it there is what would be told here: its place, what is left out of it, and what is wrong with
its ``submission.toml``.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

import msgspec

from judge_tui.checks.errors import EngineError, JudgeError, WorkspaceError
from judge_tui.checks.regular_files import open_regular
from judge_tui.checks.snapshot import MOST_BYTES, released_with
from judge_tui.checks.submission import ADAPTER, META, Submission, SubmissionMeta
from judge_tui.checks.temporary import new_folder, release
from judge_tui.checks.typed import from_msgpack
from judge_tui.checks.unlisted import Unlisted

__all__ = ["arrived", "digest_of", "packed", "taken", "unpacked"]

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
    """
    return taken(submission)[0]


def taken(submission: Submission) -> tuple[bytes, Submission]:
    """A submission as bytes, and what it was then, by its digests: what is found is kept under these.

    It is read once, straight out of its folder: no snapshot of it is made here.

    Args:
        submission: The submission, or a snapshot of it.

    Raises:
        WorkspaceError: It cannot be listed, or is too large.
    """
    troubles = dict(submission.troubles)
    files = _read(submission.path, submission.files, troubles)
    if sum(len(data) for _name, data in files) > MOST_BYTES:
        raise WorkspaceError(
            f"is larger than {MOST_BYTES >> 30} GiB",
            hint="Leave build products and data sets out.",
            file=submission.path,
        )
    overlays = tuple(_read(folder, _there(folder), {}) for folder in submission.overlays)
    meta, wrong = _told(submission)
    then = replace(submission)
    then.settle(_bound(submission, files, overlays), submission.unlisted, submission.left_out)
    then.listed(tuple(name for name, _data in files), _digest(files))
    told = _Parcel(
        then.model, then.task, str(then.place), files, overlays, troubles, meta, wrong,
        then.binding_digest, then.unlisted, then.left_out,
    )  # fmt: skip
    return msgspec.msgpack.encode(told), then


def _digest(files: _Files) -> str:
    """As :attr:`Submission.digest` has it."""
    total = hashlib.sha256()
    for name, data in files:
        total.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
    return f"sha256:{total.hexdigest()}"


def _bound(submission: Submission, files: _Files, overlays: tuple[_Files, ...]) -> str:
    """As :attr:`Submission.binding_digest` has it, of what was read."""
    if submission.source is not None:
        return submission.binding_digest
    own = dict(_read(submission.place, [META] if (submission.place / META).is_file() else [], {}))
    sides = [dict(each) for each in overlays]
    adapter = next((each[ADAPTER] for each in (*sides, dict(files)) if ADAPTER in each), None)
    total = hashlib.sha256()
    for data in (own.get(META), *(each.get(META) for each in sides), adapter):
        total.update(b"-" if data is None else hashlib.sha256(data).digest() + b"+")
    return total.hexdigest()


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
    """The judge's side files that count: a link is none."""
    places = ((name, folder / name) for name in (META, ADAPTER))
    return [name for name, place in places if place.is_file() and not place.is_symlink()]


def _read(folder: Path, names: Sequence[str], troubles: dict[str, str]) -> _Files:
    """Files and their bytes; what cannot be read is empty, and told."""
    found, left = [], MOST_BYTES
    for name in names:
        data = b""
        try:
            with open_regular(folder / name) as file:
                data = file.read(max(left, 0) + 1)
        except OSError as error:
            troubles[name] = f"cannot be read: {error.strerror}"
        left -= len(data)
        found.append((name, data))
    return tuple(found)


def unpacked(parcel: bytes) -> Submission:
    """The snapshot that a parcel holds, in a folder that goes when nothing refers to it any more.

    Args:
        parcel: What :func:`packed` gave.

    Raises:
        EngineError: It is none, or there is no room for it.
    """
    found, root = _laid_out(parcel)
    released_with(found, root)
    return found


@contextlib.contextmanager
def arrived(parcel: bytes) -> Iterator[Submission]:
    """The snapshot that a parcel holds, in a folder that goes with the block, whatever still refers to it.

    Args:
        parcel: What :func:`packed` gave.

    Raises:
        EngineError: It is none, or there is no room for it.
    """
    found, root = _laid_out(parcel)
    try:
        yield found
    finally:
        release(root)


def _laid_out(parcel: bytes) -> tuple[Submission, Path]:
    """The snapshot that a parcel holds, and the new folder that holds all of it."""
    try:
        found = from_msgpack(parcel, _Parcel)
    except msgspec.MsgspecError as error:
        raise EngineError(f"a submission arrived broken: {error}") from error
    if sum(len(data) for _name, data in found.files) > MOST_BYTES:
        raise EngineError(f"a submission of more than {MOST_BYTES >> 30} GiB arrived.")
    root: Path | None = None
    try:
        root = new_folder("snapshot")
        folders = [_filled(root / str(at), files) for at, files in enumerate((found.files, *found.overlays))]
    except OSError as error:
        raise EngineError(f"there is no room for a submission: {error.strerror}.") from error
    except EngineError:
        if root is not None:
            release(root)
        raise
    source = _Arrived(found.model, found.task, Path(found.place), told=found.meta, wrong=found.wrong)
    held = Submission(found.model, found.task, folders[0], tuple(folders[1:]), source, found.troubles)
    held.settle(found.bound, found.unlisted, found.left_out)
    return held, root


def _filled(folder: Path, files: _Files) -> Path:
    folder.mkdir()
    for name, data in files:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise EngineError(f"a submission arrived with a file out of its folder: {name!r}")
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder
