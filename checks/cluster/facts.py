"""What a worker of a cluster says of itself, and whether it may judge."""

from __future__ import annotations

import shutil

import msgspec

from judge_tui.checks import sandbox
from judge_tui.checks.backends import NAMES, Device, find
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.hosts import host
from judge_tui.checks.jobs.job import Stamp, stamp
from judge_tui.checks.typed import from_msgpack

__all__ = ["Facts", "Offered", "facts", "read_facts", "refusal"]

#: Programs that some tasks need, and skip without.
_TOOLCHAINS = ("nvcc", "g++")


class Offered(msgspec.Struct, frozen=True):
    """A backend as a worker has it.

    Attributes:
        devices: Empty where it does not work.
        reason: Why it does not.
        hint: What to do about that.
        arrays: The module that submissions get for NumPy.
    """

    devices: tuple[Device, ...]
    reason: str
    hint: str
    arrays: str


class Facts(msgspec.Struct, frozen=True):
    """Of a worker.

    Attributes:
        host: Its machine.
        stamp: What judges there.
        level: Measured level of its sandbox.
        notes: What confines there, and what does not hold.
        backends: Name → how it is to be had.
        toolchains: Those that are installed.
    """

    host: str
    stamp: Stamp
    level: str
    notes: tuple[str, ...]
    backends: dict[str, Offered]
    toolchains: tuple[str, ...]


def facts() -> bytes:
    """Those of this process, as bytes."""
    try:
        measured = sandbox.measure()
        level, notes = str(measured.level), measured.notes
    except JudgeError as error:
        level, notes = "none", (str(error),)
    offered = {
        name: Offered(each.devices, each.reason, each.hint, each.arrays)
        for name, each in ((name, find(name)) for name in NAMES)
    }
    tools = tuple(name for name in _TOOLCHAINS if shutil.which(name))
    return msgspec.msgpack.encode(Facts(host(), stamp(), level, notes, offered, tools))


def read_facts(told: bytes) -> Facts:
    """Read what :func:`facts` gave.

    Raises:
        msgspec.MsgspecError: It is none.
    """
    return from_msgpack(told, Facts)


def refusal(theirs: Facts, mine: Stamp, *, trust: bool) -> str:
    """Why a worker may not judge, as a clause; empty where it may.

    Args:
        theirs: What it says of itself.
        mine: What judges here.
        trust: Whether a worker will do that does not fully confine what it runs.
    """
    if differs := mine.differs(theirs.stamp):
        return f"it judges with {differs}"
    if theirs.level != sandbox.Level.FULL and not trust:
        why = f" ({'; '.join(theirs.notes)})" if theirs.notes else ""
        return f"its sandbox is {theirs.level}{why}, and --trust was not said"
    return ""
