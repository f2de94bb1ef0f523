"""Stored outcomes: what was found stays true until files, binding, check or engine change.

One JSON file per submission digest, binding digest, engine, backend and device, which holds a run per
seed: what was found under one seed is never shown beside what was found under another. Attempts of one
model that are the same have one file. Nothing here imports NumPy.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from judge_tui.checks.attempts import attempt_of
from judge_tui.checks.folders import user_folder
from judge_tui.checks.passing import Whole
from judge_tui.checks.submission import Submission
from judge_tui.checks.typed import from_json
from judge_tui.checks.verdict import Outcome, Verdict

__all__ = ["MOST_BYTES", "Run", "Store", "cache_folder", "last_outcomes", "one_seed", "side_by_side"]

#: An engine fault is nobody's verdict and is never kept.
_NOT_KEPT = frozenset({Verdict.ERROR})
#: The emulator's headers and runtime are the engine's as well.
_SOURCES = (".py", ".h", ".cuh", ".cpp", ".ld")
_FORMAT = "5"
_STAMP = re.compile("[0-9a-f]{64}")
#: Bytes that are kept between two looks at the whole, at least.
_BETWEEN = 1 << 20
#: Bytes of all outcomes at most, but for those of late; and of these.
MOST_BYTES, MOST_OF_LATE = 256 << 20, 8 << 30
#: Seconds before the newest one within which an outcome is of late: a matrix of many answers runs for days,
#: and goes on where it stopped.
_LATE_S = 7 * 24 * 3600
#: Seeds whose outcomes are kept of one submission; the oldest goes first.
_MOST_SEEDS = 4


class Run(msgspec.Struct, frozen=True):
    """What was found about a submission under one seed.

    Attributes:
        seed: Of the inputs.
        at: When the last of it was found: wall clock, seconds since the epoch.
        outcomes: One per check.
    """

    seed: int
    at: float
    outcomes: tuple[Outcome, ...]


def cache_folder() -> Path:
    """Where outcomes are kept: ``$JUDGE_TUI_CACHE``, or ``judge-tui`` in the user's cache folder."""
    if own := os.environ.get("JUDGE_TUI_CACHE"):
        return Path(own)
    return user_folder("CACHE") / "judge-tui"


@functools.cache
def engine_stamp() -> str:
    """Changes with the contents of every source file of the engine: the word of another one is not shown.

    Contents are read once for files of these sizes and times, and remembered: the screen waits for it.
    """
    facts = sorted(_sources(Path(__file__).parent, ""))
    noted = cache_folder() / "engine" / hashlib.sha256(repr(facts).encode()).hexdigest()[:40]
    with contextlib.suppress(OSError, ValueError):
        if _STAMP.fullmatch(known := noted.read_text(encoding="ascii")):
            return known
    total = hashlib.sha256()
    for name, _size, _time in facts:
        total.update(name.encode() + b"\0")
        total.update(hashlib.sha256(Path(f"{Path(__file__).parent}{name}").read_bytes()).digest())
    stamp = total.hexdigest()
    with contextlib.suppress(OSError):
        _replace(noted, stamp.encode())
    return stamp


def _sources(folder: Path | str, name: str) -> Iterator[tuple[str, int, int]]:
    """Path, size and time of change of every source in a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            own = f"{name}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from _sources(entry.path, own)
            elif own.endswith(_SOURCES):
                status = entry.stat()
                yield own, status.st_size, status.st_mtime_ns


class Store:
    """Outcomes on disk; a folder that cannot be written only costs time.

    Args:
        folder: Where; the user's cache folder by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = (folder or cache_folder()) / "outcomes"
        self._lock = threading.Lock()
        self._left = 0

    def key(self, submission: Submission, backend: str, device: str) -> str:
        """What outcomes of a submission as it is now on disk are kept under.

        Args:
            submission: What they are about.
            backend: Where arrays were.
            device: Its device's name.

        Raises:
            WorkspaceError: The submission has too many files.
        """
        parts = (
            _FORMAT,
            submission.task,
            attempt_of(submission.model)[0],
            submission.digest,
            submission.binding_digest,
            engine_stamp(),
            backend,
            device,
            *((submission.judged_by.digest,) if submission.judged_by is not None else ()),
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]

    def runs(self, submission: Submission, backend: str, device: str) -> tuple[Run, ...]:
        """What is stored, a run per seed, newest last; empty when nothing readable is."""
        return tuple(
            _called(run, submission.model) for run in self._read(self.key(submission, backend, device))
        )

    def outcomes(self, submission: Submission, backend: str, device: str) -> dict[str, Outcome]:
        """Check id → last outcome, whatever its seed; empty when nothing readable is stored."""
        return _last(self.runs(submission, backend, device))

    def keep(self, outcomes: Iterable[Outcome], key: str) -> None:
        """Add outcomes, the new ones winning.

        Args:
            outcomes: What was found; engine faults are left out.
            key: The key from before the checks ran, so that a later edit gets no verdict of the old files.
        """
        new = {outcome.check: outcome for outcome in outcomes if outcome.verdict not in _NOT_KEPT}
        if not new:
            return
        with self._lock, contextlib.suppress(OSError):
            data = msgspec.json.encode(_with(self._read(key), new.values(), time.time()))
            _replace(self._path(key), data)
            self._left -= len(data)
            if self._left <= 0:
                # to look at tens of thousands of files takes longer than to keep one; others keep some too
                self._left = max(_BETWEEN, self._trim() // 2)

    def chose(self, task: str, asked: str, backend: str, devices: Iterable[str]) -> None:
        """Remember what a backend that was asked for led to, for :func:`last_outcomes`."""
        told = msgspec.json.encode([backend, sorted(set(devices))])
        with contextlib.suppress(OSError):
            for name in (asked, "last"):
                _replace(self._path(f"{name}-{task}"), told)

    def chosen(self, task: str, asked: str) -> tuple[str, tuple[str, ...]]:
        """The backend and the devices that it led to last; ``("", ())`` when it never ran."""
        for name in (asked, "last") if asked == "auto" else (asked,):
            with contextlib.suppress(OSError, msgspec.MsgspecError):
                read = self._path(f"{name}-{task}").read_bytes()
                return from_json(read, tuple[str, tuple[str, ...]])
        return "", ()

    def remember(self, submission: Submission, whole: Whole) -> None:
        """Remember what submissions of a task are judged by, for whoever does not load it.

        Args:
            submission: One of them.
            whole: What they are judged by.

        Raises:
            WorkspaceError: The files of its challenge cannot be read.
        """
        with contextlib.suppress(OSError):
            _replace(self._path(_whole_key(submission)), msgspec.json.encode((engine_stamp(), whole)))

    def remembered(self, submission: Submission) -> Whole | None:
        """What a submission is judged by, as this engine last ran its task; ``None`` where it did not.

        Raises:
            WorkspaceError: The files of its challenge cannot be read.
        """
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            read = self._path(_whole_key(submission)).read_bytes()
            stamp, whole = from_json(read, tuple[str, Whole])
            return whole if stamp == engine_stamp() else None
        return None

    def _trim(self) -> int:
        """Remove what was used least of late where there is too much: outcomes of files long changed.

        Returns:
            Bytes that still fit.
        """
        found = [(entry.stat(), entry.path) for entry in os.scandir(self._folder) if entry.is_file()]
        every = sum(status.st_size for status, _path in found)
        late = max(status.st_mtime for status, _path in found) - _LATE_S
        for status, path in sorted(found, key=lambda each: max(each[0].st_mtime, each[0].st_atime)):
            used = max(status.st_mtime, status.st_atime)
            if every <= (MOST_BYTES if used < late else MOST_OF_LATE):
                break
            Path(path).unlink(missing_ok=True)
            every -= status.st_size
        return max((MOST_BYTES if every <= MOST_BYTES else MOST_OF_LATE) - every, 0)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def _read(self, key: str) -> tuple[Run, ...]:
        try:
            return from_json(self._path(key).read_bytes(), tuple[Run, ...])
        except (OSError, msgspec.MsgspecError):
            return ()


def _whole_key(submission: Submission) -> str:
    """A name by the task, and by what it is judged by where that is the user's own."""
    if submission.judged_by is None:
        return f"whole-{submission.task}"
    return f"whole-{submission.task}-{submission.judged_by.digest.partition(':')[2][:40]}"


def _called(run: Run, model: str) -> Run:
    """A run under the name that it is asked for by: another attempt may have brought it."""
    renamed = (msgspec.structs.replace(outcome, model=model) for outcome in run.outcomes)
    return Run(run.seed, run.at, tuple(renamed))


def _last(runs: Iterable[Run]) -> dict[str, Outcome]:
    return {outcome.check: outcome for run in runs for outcome in run.outcomes}


def _with(runs: Iterable[Run], outcomes: Iterable[Outcome], at: float) -> list[Run]:
    """Runs with more outcomes, newest last, the newest few seeds alone."""
    known = {run.seed: run for run in runs}
    for outcome in outcomes:
        before = known.pop(outcome.seed, None)
        found = _last([before] if before else []) | {outcome.check: outcome}
        known[outcome.seed] = Run(outcome.seed, at, tuple(found.values()))
    return list(known.values())[-_MOST_SEEDS:]


def one_seed(runs: Iterable[Run]) -> int | None:
    """The seed of the newest run, under which submissions are set side by side; ``None`` without any."""
    newest = max(runs, key=lambda run: run.at, default=None)
    return None if newest is None else newest.seed


def _replace(path: Path, content: bytes) -> None:
    """Write a file in one step, leaving nothing behind where that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=".outcomes-")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def last_outcomes(
    submission: Submission, asked: str = "auto", *, folder: Path | None = None
) -> dict[str, Outcome]:
    """Check id → last stored outcome of a submission as it is now on disk; no device is looked for.

    Args:
        submission: What they are about.
        asked: The backend as it was asked for: a name, or ``auto``, which takes what ran last where it
            never ran itself.
        folder: Where outcomes are kept; the user's cache folder by default.
    """
    return _last(_last_runs(submission, asked, folder))


def side_by_side(
    submissions: Sequence[Submission],
    asked: str = "auto",
    *,
    seed: int | None = None,
    folder: Path | None = None,
) -> list[dict[str, Outcome]]:
    """Stored outcomes of each of several submissions, all of one seed.

    Args:
        submissions: What is compared.
        asked: The backend as it was asked for.
        seed: The seed; that of the newest run by default.
        folder: Where outcomes are kept; the user's cache folder by default.
    """
    found = [_last_runs(submission, asked, folder) for submission in submissions]
    wanted = one_seed(run for runs in found for run in runs) if seed is None else seed
    return [_last(run for run in runs if run.seed == wanted) for runs in found]


def _last_runs(submission: Submission, asked: str, folder: Path | None) -> list[Run]:
    store = Store(folder)
    backend, devices = store.chosen(submission.task, asked)
    found = [run for device in devices for run in store.runs(submission, backend, device)]
    return sorted(found, key=lambda run: run.at)
