"""Many calls with one request."""

from __future__ import annotations

from collections.abc import Callable

from judge_tui.checks.calling.remote import Call, Target, Worker
from judge_tui.checks.submission import Submission

CODE = """
class Ticket:
    def __init__(self):
        self.out = []

    def take(self):
        if len(self.out) == 3:
            raise MemoryError("no tickets left")
        self.out.append(len(self.out))
        return self.out[-1]

    def give(self, number):
        self.out.remove(number)

def lost(number):
    pass
"""


def test_calls_are_made_over_and_over_and_hand_on_what_they_gave(
    submitted: Callable[..., Submission],
) -> None:
    with Worker(submitted(CODE)) as worker:
        worker.load("code.py")
        office = worker.call(Target("code.py", "Ticket")).handle
        number, nothing = worker.slot(), worker.slot()
        take, give = Call(office, number, method="take"), Call(office, nothing, (number,), method="give")
        assert worker.series((take, give), 1000) == (1000, None)
        assert worker.value(office.part(("a", "out"))) == []


def test_the_call_that_ends_a_series_is_told(submitted: Callable[..., Submission]) -> None:
    with Worker(submitted(CODE)) as worker:
        worker.load("code.py")
        office = worker.call(Target("code.py", "Ticket")).handle
        number = worker.slot()
        lost = Call(Target("code.py", "lost"), worker.slot(), kwargs={"number": number})
        done, fault = worker.series((Call(office, number, method="take"), lost), 1000)
        assert done == 3
        assert fault is not None
        assert (fault.message, fault.file, fault.line) == (
            "raised MemoryError: no tickets left",
            "code.py",
            8,
        )
