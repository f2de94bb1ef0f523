"""CUDA programs with a ``main`` of their own, built and run by the emulator: no card is needed, nor used.

The emulator runs launchers; a program is one whose launcher is its ``main``. What the emulator tells of it
colours evidence, and what it printed decides.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judge_tui.checks.challenges.programs.choosing import Program
from judge_tui.checks.cuda import emulator
from judge_tui.checks.cuda.diagnostics import worst
from judge_tui.checks.cuda.emulator import Event, reports, symbols
from judge_tui.checks.cuda.emulator.program import INPUTS, JOB, KEY, OUTPUTS, REPORT, packed
from judge_tui.checks.cuda.standards import stated
from judge_tui.checks.faults import Fault, Skipped
from judge_tui.checks.sandbox import Limits
from judge_tui.checks.sandbox.programs import Ran

__all__ = ["RESOURCES", "WANTED", "Emulation", "Refused", "emulation", "fresh_key"]

#: What an emulated process may take: the emulator reserves much more than a program asks for.
RESOURCES = Limits(cpu_seconds=900, address_space=8 << 30, file_size=64 << 20)
WANTED = {REPORT: 4 << 20}
_DRIVER = """#include "{main}"
#include <cstdio>
#include <cstdlib>
namespace judge {{
static char name[] = "program";
static char* words[] = {{name, nullptr}};
inline int begun(int (*entry)()) {{ return entry(); }}
inline int begun(int (*entry)(int, char**)) {{ return entry(1, words); }}
inline int begun(int (*entry)(int, const char**)) {{ return entry(1, const_cast<const char**>(words)); }}
}}
extern "C" int judge_launch(const float*, void*, void*, long long, long long, int) {{
    const int status = judge::begun(&main);
    std::fflush(nullptr);
    if (status != 0) std::_Exit(status);
    return 0;
}}
"""
#: A clock of the emulator's own, later than any limit.
_NEVER = 3600.0
#: What a compiler says of a library that the emulator has not.
_LACKS = re.compile(r"[\w/.]+: No such file or directory")


@dataclass(frozen=True, slots=True)
class Emulation:
    """An emulated program.

    Attributes:
        binary: The executable; untrusted.
        names: Files of the submission.
    """

    binary: bytes
    names: frozenset[str]

    def files(self, key: bytes) -> dict[str, bytes]:
        """What lies beside a run.

        Args:
            key: What its report is signed with.
        """
        case = emulator.Case(np.zeros((1, 1), np.float32), 1, 1)
        job, inputs, outputs, _places = packed([case], _NEVER)
        return {"program": self.binary, JOB: job, INPUTS: inputs, OUTPUTS: outputs, KEY: key}

    def seen(self, ran: Ran, key: bytes) -> tuple[bool, tuple[Event, ...]]:
        """Whether the program's host code broke, and which of CUDA's rules it broke.

        Args:
            ran: How a run ended.
            key: What its report is signed with.
        """
        told = reports.reports(reports.lines_of(ran.files.get(REPORT, b""), key)).get(0)
        if told is None:
            return False, ()
        answer = reports.answer_of(told, ran)
        faults = [event for event in answer.events if event.severity == "fault"]
        return answer.status == "crashed", self._placed(faults)

    def _placed(self, events: Sequence[Event]) -> tuple[Event, ...]:
        """Events with the lines that their instructions were made of."""
        addresses = sorted({event.line for event in events if event.file == symbols.ADDRESS})
        lines = symbols.lines(self.binary, addresses, self.names)
        return tuple(_at(event, lines) for event in events)


def _at(event: Event, lines: Mapping[int, tuple[str, int]]) -> Event:
    if event.file != symbols.ADDRESS:
        return event
    file, line = lines.get(event.line, ("", 0))
    return replace(event, file=file, line=line)


class Refused(Fault):
    """The compiler refused it."""


def emulation(program: Program, files: Mapping[str, bytes], seconds: float) -> Emulation:
    """Build a program for the emulator.

    Args:
        program: Its main file.
        files: Relative name → content of the submission's files.
        seconds: Wall time.

    Raises:
        Refused: It does not compile.
        Skipped: There is no compiler, or the emulator has no meaning for something.
        EngineError: There is no jail.
    """
    if trouble := emulator.available():
        raise Skipped(trouble)
    driver = _DRIVER.format(main=program.main)
    made = emulator.build(driver, files, standard=stated(files.values()), seconds=seconds)
    if isinstance(made, emulator.Program):
        return Emulation(made.binary, frozenset(files))
    first = worst(made.diagnostics)
    if made.kind == "refused" or _LACKS.search(made.reason):
        raise Skipped(f"needs a GPU: the emulator does not run it ({made.reason})")
    file = first.file if first and first.file in files else None
    said = first.text if first and file else made.reason
    raise Refused(said, file=file, line=first.line if first and file else None, output=made.output)


def fresh_key() -> bytes:
    """What the report of one run is signed with."""
    return secrets.token_bytes(32)
