"""What an examination of ``judge-tui doctor`` found, and what programs say of themselves."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["SECONDS", "Finding", "first_line", "last_line"]

#: Until a program that is asked what it is must have answered.
SECONDS = 15


@dataclass(frozen=True, slots=True)
class Finding:
    """What an examination found.

    Attributes:
        state: ``ok``; ``note`` for what is missing and not needed; ``off`` for what should be mended.
        told: The finding, in one clause.
        remedy: What to do.
    """

    state: Literal["ok", "note", "off"]
    told: str
    remedy: str = ""


def first_line(command: Sequence[str]) -> str:
    """The first line that a program prints; empty where it is missing or fails.

    Args:
        command: The program and its arguments.
    """
    return next(iter(_output(command)), "")


def last_line(command: Sequence[str]) -> str:
    """The last line that a program prints; empty where it is missing or fails.

    Args:
        command: The program and its arguments.
    """
    return next(iter(reversed(_output(command))), "")


def _output(command: Sequence[str]) -> list[str]:
    if shutil.which(command[0]) is None:
        return []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()] if done.returncode == 0 else []
