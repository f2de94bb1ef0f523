"""The answers of one check, by whether they are right; and what runs while each is made."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from judge_tui.checks.faults import Fault

__all__ = ["Answer", "Answers"]


@dataclass(slots=True)
class Answer:
    """What a submission is asked, from the first call to the last.

    Attributes:
        fine: Whether it is right; ``None`` while that is open, and for what counts neither way.
        raised: Whether the submission raised something.
    """

    fine: bool | None = None
    raised: bool = False


@dataclass(slots=True)
class Answers:
    """The answers of one check.

    Attributes:
        asked: In their order; whether one is right may be told later.
        begins: Told that one is asked for.
        ends: Told of it when it is there.
        open: The one that is asked for now.
    """

    asked: list[Answer] = field(default_factory=list)
    begins: Callable[[], None] = lambda: None
    ends: Callable[[Answer], None] = lambda answer: None
    open: Answer | None = None

    @property
    def answered(self) -> list[Answer]:
        """Those that did not raise."""
        return [answer for answer in self.asked if not answer.raised]

    @property
    def wrong(self) -> int:
        """How many are wrong."""
        return sum(answer.fine is False for answer in self.asked)

    @property
    def right(self) -> int:
        """How many are right."""
        return sum(answer.fine is True for answer in self.asked)

    @contextlib.contextmanager
    def one(self) -> Iterator[Answer]:
        """Ask for an answer; one that raises is wrong."""
        self.begins()
        answer = self.open = Answer()
        self.asked.append(answer)
        try:
            yield answer
        except Fault:
            answer.fine, answer.raised = False, True
            raise
        finally:
            self.open = None
            self.ends(answer)
