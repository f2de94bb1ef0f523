"""An emulated program: run in the jail on cases, its answers read without trusting it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.cuda.diagnostics import Diagnostic
from judge_tui.checks.cuda.emulator import reports, symbols
from judge_tui.checks.cuda.emulator.cases import UNWRITTEN_PROBABILITY, Answer, Case, Event
from judge_tui.checks.errors import EngineError
from judge_tui.checks.sandbox import Limits
from judge_tui.checks.sandbox.programs import Ran, run_program

__all__ = ["DRIVER", "INPUTS", "JOB", "OUTPUTS", "Program", "packed"]

#: The driver's name in the jail.
DRIVER = "judge_driver.cu"
#: Names of what is handed over and brought back, none of which a submission would use by chance.
JOB, INPUTS, OUTPUTS, REPORT, KEY = "judge.job", "judge.inputs", "judge.outputs", "judge.report", "judge.key"
_MOST_REPORT = 4 << 20
#: Seconds that the process has beyond its own clock, to start and to write.
_GRACE = 10.0
_LIMITS = Limits(cpu_seconds=900, address_space=8 << 30, file_size=256 << 20)
_ALIGNMENT = 4096
#: Processes, one after another, that may end before their main program begins.
_MOST_UNBEGUN = 2
#: Bytes of inputs and outputs of one process; the scratch folder holds the program besides.
_MOST_BUFFERS = 160 << 20


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a case's buffers lie in the files that are handed over; -1 where it has none."""

    logits: int
    indices: int
    probabilities: int


class Program:
    """What :func:`judge_tui.checks.cuda.emulator.build` made.

    Args:
        binary: The executable; untrusted.
        files: Names of the submission's files.
        told: What of their text it was made without.
    """

    #: Whether it signs what it reports.
    signs = True

    def __init__(self, binary: bytes, files: Sequence[str] = (), told: Sequence[Diagnostic] = ()) -> None:
        self.binary = binary
        self.told = tuple(told)
        self.files = frozenset((*files, DRIVER))
        self._lines: dict[int, tuple[str, int]] = {}

    def run(self, cases: Sequence[Case], *, budget_s: float) -> list[Answer]:
        """Run cases one after another; a fresh process goes on after one that broke it.

        Args:
            cases: What to run.
            budget_s: Seconds for all of them.

        Returns:
            An answer for each case.

        Raises:
            EngineError: The jail cannot be started, or a case is too large.
        """
        deadline = time.monotonic() + budget_s
        answers: list[Answer] = []
        unbegun = 0
        while len(answers) < len(cases):
            left = deadline - time.monotonic()
            if left <= 0.1:
                answers += [Answer("not_run")] * (len(cases) - len(answers))
                break
            more, began = self._batch(_fitting(cases[len(answers) :]), left)
            answers += more
            unbegun = 0 if began else unbegun + 1
            if unbegun >= _MOST_UNBEGUN:
                # It ends whatever it is asked for.
                answers += [answers[-1]] * (len(cases) - len(answers))
        return answers

    def _batch(self, cases: Sequence[Case], seconds: float) -> tuple[list[Answer], bool]:
        """Answers of one process, one or more, and all when nothing broke it; whether its main part began."""
        job, inputs, outputs, places = packed(cases, seconds)
        files = {"program": self.binary, JOB: job, INPUTS: inputs, OUTPUTS: outputs}
        key = secrets.token_bytes(32) if self.signs else None
        files |= {KEY: key} if key else {}
        ran = self._ran(files, {REPORT: _MOST_REPORT, OUTPUTS: len(outputs)}, seconds + _GRACE)
        lines = reports.lines_of(ran.files.get(REPORT, b""), key)
        told = reports.reports(lines)
        written = ran.files.get(OUTPUTS, b"")
        whole = len(written) == len(outputs)
        answers: list[Answer] = []
        for number, (case, place) in enumerate(zip(cases, places, strict=True)):
            if number not in told:
                break
            report = told[number]
            answer = reports.answer_of(report, ran)
            if whole and not case.planned and answer.status in ("done", "refused", "failed"):
                indices, probabilities = _arrays(case, place, written)
                answer = replace(answer, indices=indices, probabilities=probabilities)
                sum_ = reports.digest(indices.tobytes(), probabilities.tobytes())
                if self.signs and report is not None and report.get("outputs") != sum_:
                    answer = reports.answer_of(None, ran)
            answers.append(answer)
        answers = self._placed(answers)
        if len(answers) == len(cases) or (answers and answers[-1].status in ("failed", "crashed")):
            # who forges the first case's report does so for every other as well
            return answers, answers[0].ended != reports.FORGED
        if answers and answers[-1].status == "timed_out":
            return answers + [Answer("not_run")] * (len(cases) - len(answers)), True
        # The main program makes its report before it takes a case.
        begun = reports.began(lines) if self.signs else REPORT in ran.files
        return [*answers, reports.silent(ran)], begun or ran.timed_out

    def _ran(self, files: Mapping[str, bytes], wanted: Mapping[str, int], seconds: float) -> Ran:
        """Run the program once in the jail."""
        return run_program(["./program"], seconds=seconds, files=files, wanted=wanted, limits=_LIMITS)

    def _placed(self, answers: list[Answer]) -> list[Answer]:
        """Events with the lines that their instructions were made of."""
        wanted = {pc for answer in answers for event in answer.events for pc in _addresses(event)}
        if unknown := wanted - self._lines.keys():
            self._lines |= symbols.lines(self.binary, sorted(unknown), self.files)
        return [replace(answer, events=tuple(map(self._named, answer.events))) for answer in answers]

    def _named(self, event: Event) -> Event:
        if event.file == symbols.ADDRESS:
            file, line = self._lines.get(event.line, ("", 0))
            event = replace(event, file=file, line=line)
        if event.other_file == symbols.ADDRESS:
            file, line = self._lines.get(event.other_line, ("", 0))
            event = replace(event, other_file=file, other_line=line)
        if not event.file and event.other_file:
            # interrupted within the runtime: the last access before it is the place
            event = replace(event, file=event.other_file, line=event.other_line, other_file="", other_line=0)
        return event


def _fitting(cases: Sequence[Case]) -> Sequence[Case]:
    """The first cases whose buffers fit into the scratch folder together: at least one.

    Raises:
        EngineError: One alone does not.
    """
    total = 0
    for number, case in enumerate(cases):
        if case.planned:
            continue
        rows = case.logits.shape[0]
        total += 4 * case.logits.size + rows * case.stride * (4 + np.dtype(case.index_dtype).itemsize)
        if total > _MOST_BUFFERS:
            if number == 0:
                raise EngineError(f"a case of {total >> 20} MiB is more than the emulator is given")
            return cases[:number]
    return cases


def _addresses(event: Event) -> list[int]:
    pairs = ((event.file, event.line), (event.other_file, event.other_line))
    return [line for file, line in pairs if file == symbols.ADDRESS]


def packed(
    cases: Sequence[Case], seconds: float, *, watched: bool = False
) -> tuple[bytes, bytes, bytes, list[_Places]]:
    """The files that a program reads (its job, inputs, outputs as yet unwritten), and where cases lie there.

    Args:
        cases: What to run.
        seconds: What they may take.
        watched: Whether somebody else watches the bounds of the program's allocations.
    """
    inputs, outputs = bytearray(), bytearray()
    shared: dict[int, int] = {}
    lines = [f"{seconds:.3f} {int(watched)}"]
    places: list[_Places] = []
    for case in cases:
        logits = np.ascontiguousarray(case.logits, dtype=np.float32)
        rows, vocabulary = logits.shape
        item = np.dtype(case.index_dtype).itemsize
        if case.planned:
            rows, place = case.planned, _Places(-1, -1, -1)
        else:
            at = shared.get(id(case.logits))
            if at is None:
                at = shared[id(case.logits)] = _appended(inputs, logits.tobytes())
            count = rows * case.stride
            indices = _appended(outputs, b"\x7f" * (count * item))
            probabilities = _appended(outputs, np.full(count, UNWRITTEN_PROBABILITY, np.uint32).tobytes())
            place = _Places(at, indices, probabilities)
        places.append(place)
        numbers = (rows, vocabulary, case.k, item, 4, case.stride, case.schedule)
        lines.append(" ".join(map(str, (*numbers, place.logits, place.indices, place.probabilities))))
    return "\n".join(lines).encode(), bytes(inputs), bytes(outputs), places


def _appended(buffer: bytearray, data: bytes) -> int:
    """Append at a multiple of a page, and tell where."""
    buffer += bytes(-len(buffer) % _ALIGNMENT)
    at = len(buffer)
    buffer += data
    return at


def _arrays(case: Case, place: _Places, written: bytes) -> tuple[npt.NDArray[Any], npt.NDArray[np.float32]]:
    shape = (case.logits.shape[0], case.stride)
    count = shape[0] * shape[1]
    indices = np.frombuffer(written, case.index_dtype, count, place.indices)
    probabilities = np.frombuffer(written, np.float32, count, place.probabilities)
    return indices.reshape(shape).copy(), probabilities.reshape(shape).copy()
