"""What a terminal answers when it is asked; the parser of keys swallows it, so that nobody types it.

Reaches for an app's driver, which alone writes to the terminal: nothing public writes beside a frame.
"""

from __future__ import annotations

import asyncio
import fcntl
import re
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from msgspec import Struct
from textual.app import App

from judge_tui.tui.textual_private.hearing import listeners

__all__ = ["Graphics", "asked_for_graphics", "asked_for_ground", "ground_of", "told_of", "write_beside"]

_ESC, _END = "\x1b", "\x1b\\"
#: Kitty's protocol by trying it, iTerm2's by its features, the size of a cell, that of the largest Sixel
#: (xterm, "Control Sequences": XTSMGRAPHICS); last what all answer.
_ASKED = (
    f"{_ESC}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA{_END}{_ESC}]1337;Capabilities{_END}"
    f"{_ESC}[16t{_ESC}[?2;4;0S{_ESC}[c"
)
#: The colour of its ground (xterm, "Control Sequences": OSC 11).
_ASKED_GROUND = f"{_ESC}]11;?{_END}{_ESC}[c"
_GROUND = re.compile(r"\x1b\]11;rgba?:([0-9A-Fa-f]{1,4})/([0-9A-Fa-f]{1,4})/([0-9A-Fa-f]{1,4})")
#: What every terminal answers: its features by numbers, 4 for Sixel.
_LAST = re.compile(r"\x1b\[\?([\d;]*)c")
_CELL = re.compile(r"\x1b\[6;(\d+);(\d+)t")
_LARGEST = re.compile(r"\x1b\[\?2;0;(\d+);(\d+)S")
_ITERM = re.compile(r"\x1b\]1337;Capabilities=([A-Za-z0-9]*)")
_SIXEL = "4"
#: Columns and rows of a picture that says anything.
_LEAST = (10, 3)
#: Pixels; more than any screen has.
_ANY = (1 << 30, 1 << 30)
#: Seconds that a terminal has to answer; meanwhile the curve stands in dots.
_PATIENCE_S = 2.0


class Graphics(Struct, frozen=True):
    """How a terminal takes pictures.

    Attributes:
        protocol: ``kitty``, ``iterm``, ``sixel``; empty for none.
        cell: Pixels of a character across and down.
        largest: Pixels across and down of the largest picture; it draws no part of a larger one.
    """

    protocol: str = ""
    cell: tuple[int, int] = (0, 0)
    largest: tuple[int, int] = _ANY

    def within(self, columns: int, rows: int) -> tuple[int, int]:
        """As many of these characters across and down as a picture may take."""
        (across, down), (width, height) = self.cell, self.largest
        return min(columns, width // across), min(rows, height // down)


def told_of(answers: str, cell: tuple[int, int] = (0, 0)) -> Graphics:
    """What answers say of pictures.

    Args:
        answers: All of them.
        cell: Pixels of a character, where the system knows them.
    """
    if (found := _CELL.search(answers)) is not None:
        cell = int(found[2]), int(found[1])
    if min(cell) <= 0:
        # without it a picture would have no size
        return Graphics()
    iterm = _ITERM.search(answers)
    last = _LAST.search(answers)
    if f"{_ESC}_Gi=31;OK" in answers:
        return Graphics("kitty", cell)
    if iterm is not None and "F" in re.findall(r"[A-Z][a-z]*", iterm[1]):
        return Graphics("iterm", cell)
    if last is not None and _SIXEL in last[1].split(";"):
        found = _LARGEST.search(answers)
        graphics = Graphics("sixel", cell, (int(found[1]), int(found[2])) if found else _ANY)
        return graphics if graphics.within(*_LEAST) == _LEAST else Graphics()
    return Graphics()


async def asked_for_graphics(app: App[Any]) -> Graphics:
    """Ask the terminal whether it takes pictures; once it, or nobody, has answered."""
    answers = await _answers(app, _ASKED)
    return told_of(answers, _cell_by_system()) if answers else Graphics()


def ground_of(answers: str) -> tuple[float, float, float] | None:
    """Red, green and blue of a terminal's own ground, from 0 to 1; ``None`` where its answers do not say."""
    found = _GROUND.search(answers)
    if found is None:
        return None
    red, green, blue = (int(digits, 16) / (16 ** len(digits) - 1) for digits in found.groups())
    return red, green, blue


async def asked_for_ground(app: App[Any]) -> tuple[float, float, float] | None:
    """Ask the terminal for the colour of its ground; once it, or nobody, has answered."""
    return ground_of(await _answers(app, _ASKED_GROUND))


async def _answers(app: App[Any], asked: str) -> str:
    """What the terminal answers to something; empty where there is none, or none that answers in time."""
    if app.is_headless or app.is_web:
        return ""
    with _heard() as (heard, done):
        write_beside(app, asked)
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                await done.wait()
    return "".join(heard)


@contextmanager
def _heard() -> Iterator[tuple[list[str], asyncio.Event]]:
    """What arrives from the terminal meanwhile, and whether the last answer has."""
    loop = asyncio.get_running_loop()
    heard: list[str] = []
    done = asyncio.Event()

    def listen(data: str) -> None:
        # in the thread that reads keys
        heard.append(data)
        if _LAST.search("".join(heard)):
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(done.set)

    listeners.append(listen)
    try:
        yield heard, done
    finally:
        listeners.remove(listen)


def _cell_by_system() -> tuple[int, int]:
    """Pixels of a character as the system says; zeros where it does not."""
    with suppress(OSError, ValueError, ZeroDivisionError):
        told = fcntl.ioctl(sys.__stdout__.fileno() if sys.__stdout__ else 1, termios.TIOCGWINSZ, bytes(8))
        rows, columns, width, height = struct.unpack("HHHH", told)
        return width // columns, height // rows
    return 0, 0


def write_beside(app: App[Any], text: str) -> None:
    """Write to the terminal beside what is drawn, behind it."""
    driver = app._driver
    if driver is not None and not app.is_headless:
        driver.write(text)
        driver.flush()
