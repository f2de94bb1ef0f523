"""How many processes a broken program gets: no more than tell something."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from judge_tui.checks.cuda.emulator import Case
from judge_tui.checks.cuda.emulator.program import KEY, OUTPUTS, REPORT, Program
from judge_tui.checks.cuda.emulator.reports import FORGED
from judge_tui.checks.sandbox.programs import Ran

#: Key and outputs → what lies in the report.
Report = Callable[[bytes, bytes], bytes] | None
CASES = [Case(np.zeros((1, 8), np.float32), K, 8) for K in (1, 2, 3, 4)]
BEGAN = b'{"began":true}'
DONE = b'{"case": 0, "status": "done", "outputs": "%s", "events": []}'


def signed(key: bytes, *lines: bytes) -> bytes:
    """Lines as the emulator's runtime writes them."""
    marks = [hmac.new(key, line, hashlib.sha256).hexdigest().encode() for line in lines]
    return b"".join(mark + b" " + line + b"\n" for mark, line in zip(marks, lines, strict=True))


def unwritten(outputs: bytes) -> bytes:
    """The line of a first case that wrote nothing into its outputs."""
    indices, probabilities = outputs[:32], outputs[4096 : 4096 + 32]
    return DONE % hashlib.sha256(indices + probabilities).hexdigest().encode()


class Ends(Program):
    """A program of which every process ends in the same way."""

    def __init__(self, report: Report = None, *, timed_out: bool = False) -> None:
        super().__init__(b"")
        self.report, self.timed_out, self.processes = report, timed_out, 0

    def _ran(self, files: Mapping[str, bytes], wanted: Mapping[str, int], seconds: float) -> Ran:
        self.processes += 1
        left = {OUTPUTS: files[OUTPUTS]}
        if self.report is not None:
            left[REPORT] = self.report(files[KEY], files[OUTPUTS])
        return Ran(7, "exited with status 7", "", left, 0.1, self.timed_out)


@pytest.mark.parametrize(
    ("program", "processes", "statuses"),
    [
        # before its main program: no input changes that
        (Ends(), 2, ["crashed"] * 4),
        # a file that somebody else made is no beginning
        (Ends(lambda key, outputs: BEGAN + b"\n"), 2, ["crashed"] * 4),
        # in a launch, which may refuse one K so and serve another
        (Ends(lambda key, outputs: signed(key, BEGAN)), 4, ["crashed"] * 4),
        (
            Ends(lambda key, outputs: signed(key, BEGAN, unwritten(outputs))),
            2,
            ["done", "crashed", "done", "crashed"],
        ),
        (Ends(timed_out=True), 4, ["timed_out"] * 4),
    ],
)
def test_what_ends_before_its_main_program_is_not_tried_for_ever(
    program: Ends, processes: int, statuses: list[str]
) -> None:
    answers = program.run(CASES, budget_s=60)
    assert [answer.status for answer in answers] == statuses
    assert program.processes == processes


@pytest.mark.parametrize(
    ("report", "ended"),
    [
        # nobody's word but the runtime's is one
        (lambda key, outputs: unwritten(outputs) + b"\n", FORGED),
        (lambda key, outputs: signed(bytes(32), unwritten(outputs)), "exited with status 7"),
        # two reports for a case are none, whoever comes first, and the same one twice is two
        (lambda key, outputs: unwritten(outputs) + b"\n" + signed(key, unwritten(outputs)), FORGED),
        (lambda key, outputs: signed(key, unwritten(outputs)) + unwritten(outputs) + b"\n", FORGED),
        (lambda key, outputs: 2 * signed(key, unwritten(outputs)), FORGED),
        # outputs that are not those of which it tells
        (lambda key, outputs: signed(key, unwritten(bytes(len(outputs)))), FORGED),
    ],
)
def test_a_report_that_is_not_the_runtimes_alone_is_none(report: Report, ended: str) -> None:
    (answer,) = Ends(report).run(CASES[:1], budget_s=60)
    assert (answer.status, answer.ended, answer.indices) == ("crashed", ended, None)


def test_what_else_lies_in_the_report_changes_nothing() -> None:
    def report(key: bytes, outputs: bytes) -> bytes:
        return b"row,index\n0,3\n[1]\n{" + b"\n" + signed(key, BEGAN, unwritten(outputs)) + b"done\n"

    (answer,) = Ends(report).run(CASES[:1], budget_s=60)
    assert answer.status == "done"
