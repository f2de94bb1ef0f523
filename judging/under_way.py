"""What a ``check`` that is under way has come to, for a screen that shows the same workspace.

It writes a small file beside the stored outcomes, and takes it away at its end.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path

import msgspec

from judge_tui.checks.hosts import host
from judge_tui.checks.store import cache_folder
from judge_tui.checks.typed import from_json

__all__ = ["UnderWay", "clear", "keep", "read"]

#: Seconds after which nothing that was told still holds.
_OLD_S = 900.0
_MINUTE, _HOUR = 60, 3600


class UnderWay(msgspec.Struct, frozen=True):
    """How far a run is.

    Attributes:
        done: Checks that have an outcome.
        total: Checks that will have one.
        sure: Whether all of them are planned; else their number is an estimate.
        failed: Outcomes that say ``fail`` or ``error``.
        rate: Outcomes per second of late; 0 where there was none yet.
        pid: Its process.
        host: The machine of that.
        at: When this was written: wall clock, seconds since the epoch.
    """

    done: int
    total: int
    sure: bool
    failed: int
    rate: float
    pid: int = 0
    host: str = ""
    at: float = 0.0

    @property
    def left(self) -> float | None:
        """Seconds that it still takes; ``None`` where that cannot be told."""
        return max(self.total - self.done, 0) / self.rate if self.rate > 0 else None

    def __str__(self) -> str:
        about = "" if self.sure else "about "
        parts = [f"{self.done} of {about}{self.total}"]
        if self.rate > 0:
            parts.append(f"{self.rate:.1f}/s" if self.rate >= 1 else f"{self.rate * _MINUTE:.0f}/min")
        if self.left is not None and self.done < self.total:
            parts.append(f"{_duration(self.left)} left")
        parts.append(f"{self.failed} failed" if self.failed else "none failed")
        return " · ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.0f} min"
    return f"{seconds / _HOUR:.1f} h"


def _path(root: Path) -> Path:
    name = hashlib.sha256(str(root.absolute()).encode(errors="surrogateescape")).hexdigest()[:40]
    return cache_folder() / "under-way" / f"{name}.json"


def keep(root: Path, told: UnderWay) -> None:
    """Write down how far a run of this process is; where that is not possible, no screen shows it.

    Args:
        root: The workspace.
        told: How far it is.
    """
    path = _path(root)
    stamped = msgspec.structs.replace(told, pid=os.getpid(), host=host(), at=time.time())
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        own = path.with_suffix(f".{os.getpid()}")
        own.write_bytes(msgspec.json.encode(stamped))
        own.replace(path)


def clear(root: Path) -> None:
    """Take away what this process wrote."""
    told = read(root)
    if told is not None and (told.pid, told.host) == (os.getpid(), host()):
        with contextlib.suppress(OSError):
            _path(root).unlink()


def read(root: Path) -> UnderWay | None:
    """How far a run is that is under way; ``None`` without any.

    Args:
        root: The workspace.
    """
    try:
        told = from_json(_path(root).read_bytes(), UnderWay)
    except (OSError, msgspec.MsgspecError):
        return None
    gone = told.host == host() and not _runs(told.pid)
    return None if gone or abs(time.time() - told.at) > _OLD_S else told


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
