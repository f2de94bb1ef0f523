"""A submission: one model's folder for one task, identified by the digest of its files.

Source of the format: ``submission.toml`` as DESIGN.md promises it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from judge_tui.checks.attempts import attempt_name, attempt_of, attempt_title
from judge_tui.checks.errors import JudgeError, WorkspaceError
from judge_tui.checks.regular_files import open_regular
from judge_tui.checks.schema import SUBMISSION
from judge_tui.checks.snapshot import copied, released_with
from judge_tui.checks.temporary import release
from judge_tui.checks.unlisted import Unlisted, escaped, is_text, unlisted

__all__ = ["ADAPTER", "META", "Submission", "SubmissionMeta"]

META = "submission.toml"
ADAPTER = "adapter.py"
_SIDE_FILES = (META, ADAPTER)
_LEFT_OUT = frozenset({"__pycache__", "node_modules"})
_MAX_FILES = 2_000
_MOST_BYTES = 64 << 20
_MOST_META = 1 << 20
_TEXTS = ("origin", "source", "model", "comment")
#: How files of code end.
_CODE = (".py", ".pyc", ".pyo", ".pyd", ".so", ".cu", ".cuh", ".pth")
#: Where a snapshot keeps the digest of its bindings.
_BOUND = "binding digest"
_READABLE = "Make it readable, or leave the model out."


@dataclass(frozen=True, slots=True)
class SubmissionMeta:
    """What ``submission.toml`` says.

    Attributes:
        origin: ``"reconstruction"``, ``"submission"``, … as written.
        source: Where it comes from.
        model: Display name of the model.
        comment: Free text.
        binding: Role → binding table, unparsed (see :mod:`judge_tui.checks.calling.binding`); none where the
            file is of a newer schema.
        newer: Why no check may go by it, one sentence, where it is of a newer schema; empty otherwise.
    """

    origin: str = ""
    source: str = ""
    model: str = ""
    comment: str = ""
    binding: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    newer: str = ""

    def below(self, over: SubmissionMeta) -> SubmissionMeta:
        """The same with what stands over it: what that says wins."""
        return SubmissionMeta(
            over.origin or self.origin,
            over.source or self.source,
            over.model or self.model,
            over.comment or self.comment,
            {**self.binding, **over.binding},
            over.newer or self.newer,
        )


@dataclass(frozen=True)
class Submission:
    """One model's folder for one task.

    Attributes:
        model: Folder name of the model; of a further attempt with its number, as ``glm5@2``.
        task: Task id.
        path: The folder; it need not exist (no submission).
        overlays: The judge's folders of ``submission.toml`` and ``adapter.py``: the first wins over the later
            ones, and all over what lies in ``path``, which is the submission's own.
        source: Of a snapshot, what it was taken of.
        troubles: Of a snapshot, file → why it could not be read.
        judged_by: The files of the challenge that it is judged by, where that is the user's own.
    """

    model: str
    task: str
    path: Path
    overlays: tuple[Path, ...] = ()
    source: Submission | None = field(default=None, repr=False, compare=False)
    troubles: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    judged_by: Submission | None = field(default=None, repr=False, compare=False)

    @cached_property
    def held(self) -> Submission:
        """A snapshot of it, taken once: these files and nothing else, whatever becomes of the folder.

        A worker is shown a snapshot alone, so that what is digested and read here is what runs there.

        Raises:
            WorkspaceError: It cannot be listed, or is too large.
            EngineError: There is no room for it.
        """
        if self.source is not None:
            return self
        folders: list[Path] = []
        try:
            files, troubles = copied(self.path, self.files)
            folders.append(files)
            for folder in self.overlays:
                folders.append(copied(folder, [name for name in _SIDE_FILES if _is_plain(folder / name)])[0])
        except JudgeError:
            for made in folders:
                release(made)
            raise
        taken = Submission(self.model, self.task, files, tuple(folders[1:]), self, troubles, self.judged_by)
        released_with(taken, *folders)
        # what is malformed is told by whoever asks for it
        with suppress(WorkspaceError):
            taken.__dict__["meta"] = self.meta
        taken.__dict__[_BOUND] = taken.binding_digest
        return taken

    def edited(self, file: str, text: str) -> Submission:
        """A snapshot of it in which one file holds another text; its digest is another one.

        Args:
            file: Relative path of one of its files.
            text: What that file holds.

        Raises:
            WorkspaceError: It cannot be listed, or is too large.
            EngineError: There is no room for it.
        """
        held = self.held
        folder, _troubles = copied(held.path, held.files)
        folder.joinpath(file).write_text(text, "utf-8")
        taken = replace(held, path=folder)
        released_with(taken, folder)
        # the folders of its bindings are those of the other
        taken.__dict__.update({_BOUND: held.binding_digest, "edited from": held})
        return taken

    @property
    def binding_digest(self) -> str:
        """Digest of what tells how it is called, as it is now: binding tables and ``adapter.py``."""
        if known := self.__dict__.get(_BOUND):
            return str(known)
        total = hashlib.sha256()
        tables = [folder / META for folder in (self.place, *self.overlays)]
        for file in (*tables, self.adapter):
            told = b"-"
            with suppress(OSError):
                if file is not None:
                    with open_regular(file) as opened:
                        told = hashlib.sha256(opened.read()).digest() + b"+"
            total.update(told)
        return total.hexdigest()

    @property
    def place(self) -> Path:
        """Its own folder, for messages."""
        return self.path if self.source is None else self.source.path

    @cached_property
    def meta(self) -> SubmissionMeta:
        """What ``submission.toml`` says, the judge's tables winning.

        Raises:
            WorkspaceError: The file is not TOML, or a value has the wrong type.
        """
        if self.source is not None:
            return self.source.meta
        told = read_meta(self.path / META)
        for folder in reversed(self.overlays):
            told = told.below(read_meta(folder / META))
        return told

    @property
    def title(self) -> str:
        """Display name of the model, a further attempt's with its number."""
        return attempt_title(self.meta.model, attempt_of(self.model)[1]) if self.meta.model else self.model

    @property
    def adapter(self) -> Path | None:
        """The ``adapter.py`` that overrides the binding, the judge's first; a link is none."""
        folders = (*self.overlays, self.path)
        return next((folder / ADAPTER for folder in folders if _is_plain(folder / ADAPTER)), None)

    @property
    def adapts_itself(self) -> bool:
        """Whether the adapter is the submission's own, and not a judge's."""
        return self.adapter == self.path / ADAPTER

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Relative POSIX paths of the files, sorted; ``submission.toml`` and hidden files left out.

        Symbolic links are left out: what they point to is not the submission. So are names that are
        not UTF-8: no report could carry them. :attr:`unlisted` tells of both.

        Raises:
            WorkspaceError: A folder cannot be read: what is left would be another submission; or it has
                too many files.
        """
        try:
            return self._listed()
        except OSError as error:
            where = Path(error.filename or self.path)
            raise WorkspaceError(
                f"cannot be read: {error.strerror}.",
                hint=_READABLE,
                file=where,
            ) from error

    def _listed(self) -> tuple[str, ...]:
        found: list[str] = []
        try:
            if not stat.S_ISDIR(self.path.stat().st_mode):
                return ()
        except (FileNotFoundError, NotADirectoryError):
            return ()
        for folder, names, files in os.walk(self.path, onerror=_unreadable):
            names[:] = sorted(filter(_is_looked_into, names))
            for name in files:
                path = Path(folder, name)
                relative = path.relative_to(self.path).as_posix()
                if not _is_passed(name) or relative == META:
                    continue
                if path.is_symlink() or not path.is_file() or not is_text(relative):
                    continue
                found.append(relative)
            if len(found) > _MAX_FILES:
                raise WorkspaceError(
                    f"more than {_MAX_FILES} files in one submission",
                    hint="Leave build products and data sets out.",
                    file=self.path,
                )
        return tuple(sorted(found, key=lambda name: (name.count("/"), name)))

    @cached_property
    def unlisted(self) -> tuple[Unlisted, ...]:
        """What is no part of it and could be taken for one: links, pipes, names that are not UTF-8."""
        return tuple(unlisted(self.place, _is_looked_into, _is_passed))

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """What in its folder is no part of it: hidden code and :attr:`unlisted`, but no caches of Python."""
        found: list[str] = []
        for folder, names, files in os.walk(self.place):
            names[:] = [name for name in names if name != "__pycache__"]
            found += (
                Path(folder, name).relative_to(self.place).as_posix()
                for name in (*files, *(n for n in names if Path(folder, n).is_symlink()))
                if name.endswith(_CODE) or name in names
            )
            if len(found) > _MAX_FILES:
                break
        told = {*found, *(one.name for one in self.unlisted)} - {*self.files}
        return tuple(sorted(set(map(escaped, told))))

    @cached_property
    def digest(self) -> str:
        """``sha256:…`` over names and bytes of the files."""
        total = hashlib.sha256()
        for name in self.files:
            total.update(name.encode() + b"\0" + _hashed(self.path / name))
        return f"sha256:{total.hexdigest()}"

    def settle(self, bound: str, unlisted: tuple[Unlisted, ...], left_out: tuple[str, ...]) -> None:
        """Take over what was found of a snapshot where it was taken; for one that comes from elsewhere.

        Args:
            bound: Its :attr:`binding_digest`.
            unlisted: Its :attr:`unlisted`.
            left_out: Its :attr:`left_out`.
        """
        self.__dict__.update({_BOUND: bound, "unlisted": unlisted, "left_out": left_out})

    def listed(self, files: tuple[str, ...], digest: str) -> None:
        """Take over what was found of its files as they were read.

        Args:
            files: Its :attr:`files`.
            digest: Its :attr:`digest`.
        """
        self.__dict__.update({"files": files, "digest": digest})

    def refresh(self) -> None:
        """Look at the folder anew: it has changed on disk.

        Raises:
            WorkspaceError: It is malformed now; what was known of it stays, but for the digest.
        """
        fresh = replace(self)
        self.__dict__.pop("digest", None)
        self.__dict__.pop("held", None)
        self.__dict__.pop("unlisted", None)
        self.__dict__.pop("left_out", None)
        known = {"meta": fresh.meta, "files": fresh.files}
        self.__dict__.update(known)

    def read_bytes(self, name: str) -> bytes:
        """Bytes of a file, the first 64 MiB; an unreadable file reads as empty."""
        try:
            with open_regular(self.path / name) as file:
                return file.read(_MOST_BYTES)
        except OSError:
            return b""

    def trouble(self, name: str) -> str:
        """Why a file cannot be read, as a clause; empty where it can."""
        if self.source is not None:
            return self.troubles.get(name, "")
        try:
            open_regular(self.path / name).close()
        except OSError as error:
            return f"cannot be read: {error.strerror}"
        return ""

    def read_text(self, name: str) -> str:
        """Text of a file; bytes that are not UTF-8 become U+FFFD."""
        return self.read_bytes(name).decode("utf-8", errors="replace")

    @classmethod
    def at(cls, path: Path, *, model: str = "", task: str = "", bindings: Path | None = None) -> Submission:
        """The submission in ``path``, named after the last two folders unless told.

        Args:
            path: ``…/<model>/<task>``, or ``…/<model>/<task>@<n>``.
            model: Overrides the folder's name.
            task: Overrides the folder's name.
            bindings: Root of a tree ``<model>/<task>/`` whose side files win.
        """
        path = path.absolute()
        own, attempt = attempt_of(path.name)
        folders = model or path.parent.name, task or path.name
        model, task = model or attempt_name(path.parent.name, attempt), task or own
        return cls(model, task, path, (bindings.joinpath(*folders),) if bindings is not None else ())


def _unreadable(error: OSError) -> None:
    """A folder that goes while it is read has no files; one that keeps them to itself is no such thing."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _is_looked_into(folder: str) -> bool:
    return not folder.startswith(".") and folder not in _LEFT_OUT


def _is_passed(file: str) -> bool:
    return not file.startswith(".") and not file.endswith((".pyc", ".pyo"))


def _hashed(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return hashlib.sha256(b"").digest()


def read_meta(path: Path) -> SubmissionMeta:
    """Read a ``submission.toml``; an absent file, or a link, says nothing.

    Raises:
        WorkspaceError: The file is not TOML, or a value has the wrong type.
    """
    try:
        if path.is_symlink() or not path.is_file():
            return SubmissionMeta()
        with open_regular(path) as file:
            data = file.read(_MOST_META + 1)
        if len(data) > _MOST_META:
            raise WorkspaceError("is larger than 1 MiB", file=path)
        text = data.decode()
        parsed = tomllib.loads(text)
    except OSError as error:
        raise WorkspaceError(f"cannot be read: {error.strerror}.", hint=_READABLE, file=path) from error
    # a number of thousands of digits is a ValueError too
    except (ValueError, RecursionError) as error:
        raise WorkspaceError(
            f"is not valid TOML: {error}", hint="Mend or remove the file.", file=path
        ) from error
    found = SUBMISSION.read(parsed, text, path)
    raw = found.raw
    if newer := SUBMISSION.refusal(found.version, path, text):
        told = {key: raw[key] for key in _TEXTS if isinstance(raw.get(key), str)}
        return SubmissionMeta(**told, newer=str(newer))
    for key in _TEXTS:
        if not isinstance(raw.get(key, ""), str):
            raise WorkspaceError(f"'{key}' must be a text", file=path)
    binding = raw.get("binding", {})
    if not isinstance(binding, dict) or not all(isinstance(table, dict) for table in binding.values()):
        raise WorkspaceError("'binding' must hold one table per role, as [binding.forward]", file=path)
    return SubmissionMeta(
        raw.get("origin", ""), raw.get("source", ""), raw.get("model", ""), raw.get("comment", ""), binding
    )
