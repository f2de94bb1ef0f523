"""An emulated program: run in the jail on cases, its answers read without trusting it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt

from judge_tui.checks.cuda.emulator import symbols
from judge_tui.checks.cuda.emulator.cases import UNWRITTEN_PROBABILITY, Answer, Case, Event, Severity
from judge_tui.checks.errors import EngineError
from judge_tui.checks.sandbox import Limits
from judge_tui.checks.sandbox.programs import Ran, run_program

__all__ = ["DRIVER", "Program", "packed"]

#: The driver's name in the jail.
DRIVER = "judge_driver.cu"
_MOST_REPORT = 4 << 20
_MOST_EVENTS = 64
_MOST_TEXT = 300
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
    """Where a case's buffers lie in the files that are handed over."""

    logits: int
    indices: int
    probabilities: int


class Program:
    """What :func:`judge_tui.checks.cuda.emulator.build` made.

    Args:
        binary: The executable; untrusted.
        files: Names of the submission's files.
    """

    def __init__(self, binary: bytes, files: Sequence[str] = ()) -> None:
        self.binary = binary
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
        files = {"program": self.binary, "job": job, "inputs": inputs, "outputs": outputs}
        ran = self._ran(files, {"report": _MOST_REPORT, "outputs": len(outputs)}, seconds + _GRACE)
        told = _report(ran.files.get("report", b""))
        written = ran.files.get("outputs", b"")
        whole = len(written) == len(outputs)
        answers: list[Answer] = []
        for number, (case, place) in enumerate(zip(cases, places, strict=True)):
            if number not in told:
                break
            answer = _answer(told[number], ran)
            if whole and answer.status in ("done", "refused", "failed"):
                indices, probabilities = _arrays(case, place, written)
                answer = replace(answer, indices=indices, probabilities=probabilities)
            answers.append(answer)
        answers = self._placed(answers)
        if len(answers) == len(cases) or (answers and answers[-1].status in ("failed", "crashed")):
            return answers, True
        if answers and answers[-1].status == "timed_out":
            return answers + [Answer("not_run")] * (len(cases) - len(answers)), True
        # The main program makes its report before it takes a case.
        return [*answers, _silent(ran)], "report" in ran.files or ran.timed_out

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
        at = shared.get(id(case.logits))
        if at is None:
            at = shared[id(case.logits)] = _appended(inputs, logits.tobytes())
        item = np.dtype(case.index_dtype).itemsize
        count = rows * case.stride
        indices = _appended(outputs, b"\x7f" * (count * item))
        probabilities = _appended(outputs, np.full(count, UNWRITTEN_PROBABILITY, np.uint32).tobytes())
        places.append(_Places(at, indices, probabilities))
        numbers = (rows, vocabulary, case.k, item, 4, case.stride, case.schedule, at, indices, probabilities)
        lines.append(" ".join(map(str, numbers)))
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


def _report(data: bytes) -> dict[int, Mapping[str, Any]]:
    """Case → what the program wrote of it; whatever is malformed is left out."""
    found: dict[int, Mapping[str, Any]] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict) and isinstance(told.get("case"), int):
            found.setdefault(told["case"], told)
    return found


def _answer(told: Mapping[str, Any], ran: Ran) -> Answer:
    status = told.get("status")
    if status not in ("done", "refused", "failed", "crashed", "timed_out"):
        return Answer("crashed", ended="the program's own report is malformed", output=ran.output)
    events = told.get("events")
    listed = events[:_MOST_EVENTS] if isinstance(events, list) else []
    return Answer(
        status,
        _number(told.get("code")),
        _number(told.get("device_error")),
        events=tuple(_event(each) for each in listed if isinstance(each, dict)),
        peak_bytes=_number(told.get("peak_bytes")),
        seconds=_real(told.get("seconds")),
        cpu_seconds=_real(told.get("cpu_seconds")),
        ended=_how(status, ran),
        output=ran.output,
        input_bytes=_number(told.get("input_bytes")),
    )


def _how(status: str, ran: Ran) -> str:
    if status == "timed_out":
        return "did not end within its budget"
    return ran.ended if status == "crashed" else ""


def _event(told: Mapping[str, Any]) -> Event:
    severity = told.get("severity")
    file, line = _place(told, "")
    other_file, other_line = _place(told, "other_")
    return Event(
        _text(told.get("kind")),
        cast(Severity, severity) if severity in get_args(Severity) else "note",
        _text(told.get("text")),
        file,
        line,
        _number(told.get("block")),
        _number(told.get("thread")),
        _number(told.get("count")),
        other_file,
        other_line,
    )


def _place(told: Mapping[str, Any], prefix: str) -> tuple[str, int]:
    """File and line, or the marker of an address that is yet to be looked up."""
    if f"{prefix}pc" in told:
        return symbols.ADDRESS, _number(told[f"{prefix}pc"])
    return symbols.plain(_text(told.get(f"{prefix}file"))), _number(told.get(f"{prefix}line"))


def _number(value: Any) -> int:
    return value if isinstance(value, int) and abs(value) < 1 << 62 else 0


def _real(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1e9 else 0.0


def _text(value: Any) -> str:
    text = value[:_MOST_TEXT] if isinstance(value, str) else ""
    return "".join(c if c.isprintable() else "?" for c in text)


def _silent(ran: Ran) -> Answer:
    """The answer to a case that the process ended in."""
    if ran.timed_out:
        return Answer("timed_out", ended=ran.ended, seconds=ran.seconds, output=ran.output)
    return Answer("crashed", ended=ran.ended, seconds=ran.seconds, output=ran.output)
