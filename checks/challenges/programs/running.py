"""Running a program on one case: its input on a pipe, its time and its memory bounded."""

from __future__ import annotations

import re
import signal
from collections.abc import Collection
from dataclasses import dataclass

from judge_tui.checks.challenges.challenge import OPEN, Limits
from judge_tui.checks.challenges.programs.building import Built
from judge_tui.checks.challenges.programs.emulating import RESOURCES, WANTED, Emulation, fresh_key
from judge_tui.checks.challenges.programs.recipes import PYTHON
from judge_tui.checks.cuda.emulator import Event
from judge_tui.checks.sandbox import Limits as Resources
from judge_tui.checks.sandbox import Mode
from judge_tui.checks.sandbox.programs import Ran, run_program

__all__ = ["Ended", "run"]

#: Bytes beside a program's own: of its text and libraries, and of a runtime whose heap alone is bounded.
_LIBRARIES, _RUNTIME = 64 << 20, 192 << 20
_FILES = 64 << 20
_OUT_OF_MEMORY = re.compile(
    r"MemoryError|bad_alloc|OutOfMemoryError|out of memory|memory allocation of", re.I
)
_PYTHON = re.compile(r'File "(?:[^"]*/)?(?P<file>[^"/]+)", line (?P<line>\d+)')
_OTHERS = re.compile(r"(?P<file>[\w.+-]+\.\w+):(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended on one case.

    Attributes:
        ran: The run.
        trouble: Why that is wrong whatever it printed, as a clause; empty where it is not.
        file: File of the submission where it broke, as it says itself.
        line: 1-based.
        seen: Of CUDA, which of its rules the program broke.
    """

    ran: Ran
    trouble: str = ""
    file: str | None = None
    line: int | None = None
    seen: tuple[Event, ...] = ()


_FRAMEWORK = re.compile(rb"^\s*(?:import|from)\s+(?:" + b"|".join(map(str.encode, OPEN)) + rb")\b", re.M)


def run(built: Built, given: bytes, limits: Limits, *, mode: Mode = "auto", hashes: int = 0) -> Ended:
    """Run a program.

    Args:
        built: The program.
        given: What it reads.
        limits: Of its time, its language's factor counted, and its memory.
        mode: How it is confined.
        hashes: What the hashes of texts hang on, where the program is in Python.

    Raises:
        EngineError: The jail cannot be started.
    """
    if built.emulation is not None:
        return _emulated(built, built.emulation, given, limits, mode)
    recipe = built.program.recipe
    seconds, memory = limits.seconds, limits.memory
    bounded = recipe.bounded and not _on_a_framework(built)
    ran = run_program(
        [word.replace("{memory}", str(max(1, memory >> 20))) for word in built.argv],
        seconds=seconds,
        files=built.files,
        shown=built.shown,
        environment={**built.environment, "PYTHONHASHSEED": str(hashes)},
        processes=built.processes,
        limits=Resources(
            cpu_seconds=int(seconds * 16) + 10,
            address_space=memory + _LIBRARIES if bounded else None,
            file_size=_FILES,
            stack=-1,
        ),
        memory_bytes=None if bounded else memory + _RUNTIME,
        mode=mode,
        stdin=given,
        python=OPEN if recipe.name == PYTHON else None,
    )
    trouble = _trouble(ran, limits)
    file, line = _place(ran.output, built.files) if trouble else (None, None)
    return Ended(ran, trouble, file, line)


def _on_a_framework(built: Built) -> bool:
    """Whether a Python program imports a framework: those reserve address space that they never touch."""
    if built.program.recipe.name != PYTHON:
        return False
    texts = (text for name, text in built.files.items() if name.endswith(".py"))
    return any(_FRAMEWORK.search(text) for text in texts)


def _emulated(built: Built, emulation: Emulation, given: bytes, limits: Limits, mode: Mode) -> Ended:
    """Run a program in the emulator, whose own memory has no bound but the address space."""
    key = fresh_key()
    ran = run_program(
        built.argv,
        seconds=limits.seconds,
        files={**built.files, **emulation.files(key)},
        wanted=WANTED,
        limits=RESOURCES,
        mode=mode,
        stdin=given,
    )
    crashed, seen = emulation.seen(ran, key)
    trouble = _trouble(ran, limits) or ("its host code broke off" if crashed else "")
    if not (trouble and seen):
        return Ended(ran, trouble, seen=seen)
    last = seen[-1]
    return Ended(ran, f"{trouble}: {last.text}", last.file or None, last.line or None, seen)


def _trouble(ran: Ran, limits: Limits) -> str:
    memory = f"{max(1, limits.memory >> 20)} MiB"
    if ran.timed_out:
        return f"took more than {limits.seconds:.3g} s"
    if ran.status is None:
        return f"used more than {memory} of memory" if "of memory" in ran.ended else ran.ended
    if ran.status == 0:
        return ""
    ended = ran.ended + (f" ({_signal(-ran.status)})" if ran.status < 0 else "")
    # a stack may take all of it
    if _OUT_OF_MEMORY.search(ran.output[-4000:]) or ran.peak_bytes >= limits.memory:
        return f"ran out of its {memory} of memory and {ended}"
    return ended


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _place(output: str, files: Collection[str]) -> tuple[str | None, int | None]:
    """Where a program itself says that it broke: of Python the last line, of others the first."""
    names = {file.rpartition("/")[2]: file for file in files}
    last = [match for match in _PYTHON.finditer(output) if match["file"] in names][-1:]
    first = [match for match in _OTHERS.finditer(output) if match["file"] in names][:1]
    for match in (*last, *first):
        return names[match["file"]], int(match["line"])
    return None, None
