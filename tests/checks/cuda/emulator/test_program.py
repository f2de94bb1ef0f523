"""How many processes a broken program gets: no more than tell something."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from judge_tui.checks.cuda.emulator import Case
from judge_tui.checks.cuda.emulator.program import Program
from judge_tui.checks.sandbox.programs import Ran

CASES = [Case(np.zeros((1, 8), np.float32), K, 8) for K in (1, 2, 3, 4)]
DONE = b'{"case": 0, "status": "done", "events": []}\n'


class Ends(Program):
    """A program of which every process ends in the same way."""

    def __init__(self, files: Mapping[str, bytes], *, timed_out: bool = False) -> None:
        super().__init__(b"")
        self.left, self.timed_out, self.processes = files, timed_out, 0

    def _ran(self, files: Mapping[str, bytes], wanted: Mapping[str, int], seconds: float) -> Ran:
        self.processes += 1
        return Ran(7, "exited with status 7", "", self.left, 0.1, self.timed_out)


@pytest.mark.parametrize(
    ("program", "processes", "statuses"),
    [
        # before its main program: no input changes that
        (Ends({}), 2, ["crashed"] * 4),
        # in a launch, which may refuse one K so and serve another
        (Ends({"report": b""}), 4, ["crashed"] * 4),
        (Ends({"report": DONE}), 2, ["done", "crashed", "done", "crashed"]),
        (Ends({}, timed_out=True), 4, ["timed_out"] * 4),
    ],
)
def test_what_ends_before_its_main_program_is_not_tried_for_ever(
    program: Ends, processes: int, statuses: list[str]
) -> None:
    answers = program.run(CASES, budget_s=60)
    assert [answer.status for answer in answers] == statuses
    assert program.processes == processes
