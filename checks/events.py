"""What the engine tells while it runs: one JSON object per line.

The engine runs in a process of its own (:mod:`judge_tui.checks.engine`), so that a
screen neither imports NumPy nor waits for it.
"""

from __future__ import annotations

from typing import cast

import msgspec

from judge_tui.checks.verdict import Outcome

__all__ = [
    "Done",
    "Event",
    "Failed",
    "Finished",
    "Planned",
    "PlannedCheck",
    "Progress",
    "Ready",
    "Started",
    "decode",
    "encode",
]


class PlannedCheck(msgspec.Struct, frozen=True):
    """A check that will run, or whose stored outcome stands."""

    model: str
    check: str
    title: str
    establishes: str


class Planned(msgspec.Struct, frozen=True, tag="planned"):
    """First event: everything that will get a verdict, the backends that the task can use, the chosen one.

    ``same`` names the attempts that are the same as another: attempt → the one that is judged for both.
    """

    task: str
    checks: tuple[PlannedCheck, ...]
    backends: tuple[str, ...] = ()
    backend: str = ""
    same: dict[str, str] = {}


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The sandbox was measured: ``full``, ``partial`` or ``none``, with the reasons."""

    backend: str
    device: str
    sandbox: str
    seed: int
    notes: tuple[str, ...] = ()


class Started(msgspec.Struct, frozen=True, tag="started"):
    """A check begins."""

    model: str
    task: str
    check: str


class Progress(msgspec.Struct, frozen=True, tag="progress"):
    """A check is under way: ``note`` says at what, ``fraction`` is in 0…1 or absent."""

    model: str
    task: str
    check: str
    note: str
    fraction: float | None = None


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """A check has its outcome.

    Attributes:
        outcome: It.
        cached: Whether it was stored earlier.
        again: Whether it was told in this run already, and says more now: not another verdict.
    """

    outcome: Outcome
    cached: bool = False
    again: bool = False


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The engine cannot go on: one sentence and a hint."""

    message: str
    hint: str = ""


class Done(msgspec.Struct, frozen=True, tag="done"):
    """Nothing more follows."""

    seconds: float


Event = Planned | Ready | Started | Progress | Finished | Failed | Done

_encoder = msgspec.json.Encoder()


def encode(event: Event) -> bytes:
    """One line of JSON, newline included."""
    return _encoder.encode(event) + b"\n"


def decode(line: bytes) -> Event:
    """Read one line.

    Raises:
        msgspec.DecodeError: The line is not an event.
    """
    # a screen is drawn before an engine says anything
    from judge_tui.checks.typed import from_json

    return from_json(line, cast("type[Event]", Event))
