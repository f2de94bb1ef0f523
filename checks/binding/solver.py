"""Roles that can only be told together: options, readings and short trials, searched in one way for all.

Names and signatures give options: callables that may play together. What they leave open, the order of axes
or the meaning of a number, are the readings of an option. A trial runs one reading small; the first that is
right is taken, else the one that is plainly meant, whose wrong answers are then the submission's own. A task
says what these are, as a :class:`Family`; a :class:`Search` goes through them, and keeps the account.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from itertools import islice
from typing import Any

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.inventories import Inventories
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Fault

__all__ = ["RIGHT", "Family", "Option", "Search", "Trial", "trial"]

#: Relative error up to which a trial's answers are right.
RIGHT = 1e-3
#: Role → how it is called: what may play together.
Option = dict[str, Binding]


@dataclass(frozen=True, slots=True)
class Trial:
    """How a reading went.

    Attributes:
        error: How far off its worst answer is; infinite when it did not run.
        said: How it failed to run.
        mistake: The usual mistake that its wrong answers equal, in words; empty when none.
        fault: What the submission did that ended it; ``None`` where that was nothing.
    """

    error: float
    said: str = ""
    mistake: str = ""
    fault: Fault | None = None

    @property
    def ran(self) -> bool:
        """Whether it ran to the end."""
        return not self.said

    @property
    def right(self) -> bool:
        """Whether the answers are right."""
        return self.ran and self.error <= RIGHT


@dataclass(frozen=True, slots=True)
class Family:
    """Roles that are looked for together.

    Attributes:
        name: The role under which is noted what was tried.
        options: What may play together, likeliest first.
        trial: Runs a reading.
        readings: What an option may mean, likeliest first; what it says, when left out.
        meant: Whether a reading that ran and is not right is meant all the same.
        rank: What orders those that are meant, the least being taken; of equal ones the first.
        right: The error up to which a reading is right.
        claims: Whether an option says that it plays the roles, so that its failure is noted.
        most: Options that are tried.
        shown: Notes that are kept.
    """

    name: str
    options: Callable[[Search], Iterable[Option]]
    trial: Callable[[Search, Option], Trial]
    readings: Callable[[Search, Option], Iterable[Option]] = lambda search, option: [option]
    meant: Callable[[Search, Option, Trial], bool] = lambda search, option, result: False
    rank: Callable[[Option, Trial], float] = lambda option, result: 0.0
    right: float = RIGHT
    claims: Callable[[Option], bool] = lambda option: True
    most: int | None = None
    shown: int = 24


def trial(run: Callable[[Search, Option], float | Trial]) -> Callable[[Search, Option], Trial]:
    """Make a trial of a function that gives the error of the worst answer of an option.

    What the submission refuses, and what does not fit together, is said in the trial.

    Raises:
        Fault: It ended the process; what was called is not called so again.
    """

    @wraps(run)
    def tried(search: Search, option: Option) -> Trial:
        def ran() -> Trial:
            told = run(search, option)
            return told if isinstance(told, Trial) else Trial(told)

        return search.survived(option, ran)

    return tried


@dataclass(slots=True)
class Search:
    """A search for the roles of one submission.

    Attributes:
        worker: Where the submission is.
        loaded: File → what it defines.
        bound: Role → how it is called; holds what is written by hand, and is added to.
        rejected: Role → what was tried, and how it failed.
        fatal: What ended the process when it was called → how; it is not called again.
        broken: Role → what the callable did that plays it beyond doubt, and in no way that was tried.
    """

    worker: Worker
    loaded: Inventories
    bound: Option = field(default_factory=dict)
    rejected: dict[str, list[str]] = field(default_factory=dict)
    fatal: dict[str, Fault] = field(default_factory=dict)
    broken: dict[str, Fault] = field(default_factory=dict)

    def params(self, target: str) -> Sequence[Mapping[str, Any]]:
        """The parameters of a callable, ``self`` left out, or of what a class is made from; none if unknown.

        Args:
            target: ``file.py:name``.
        """
        file, _colon, name = target.partition(":")
        classes = self.loaded.get(file, {}).get("classes", ())
        known = (item.params for item in callables(self.loaded) if (item.file, item.name) == (file, name))
        made = (cls["params"] or () for cls in classes if cls["name"] == name)
        return next(known, None) or next(made, ())

    def guess(self) -> Guess:
        """A block of calls that the submission may refuse."""
        return Guess(self.worker)

    def goes(self, run: Callable[[], bool]) -> bool:
        """Whether a guess holds: it is not refused, and says so itself."""
        with self.guess():
            return run()
        return False

    def survived(self, option: Mapping[str, Binding], run: Callable[[], Trial]) -> Trial:
        """Run a trial, unless what it calls has ended the process before.

        Raises:
            Fault: It ended the process.
        """
        called = ", ".join(dict.fromkeys(binding.target for binding in option.values()))
        if called in self.fatal:
            return Trial(float("inf"), self.fatal[called].message)
        try:
            with self.guess() as guess:
                return run()
        except Fault as fault:
            self.fatal[called] = fault
            raise
        return Trial(float("inf"), guess.said, fault=guess.fault)

    def tried(self, role: str) -> list[str]:
        """What was tried for a role."""
        return self.rejected.setdefault(role, [])

    def note(self, role: str, line: str, *, most: int = 24) -> None:
        """Add to what was tried for a role, once."""
        tried = self.tried(role)
        if len(tried) < most and line not in tried:
            tried.append(line)

    def first(
        self,
        base: Option,
        additions: Iterable[Option],
        tried: Callable[[Search, Option], Trial],
        right: float = RIGHT,
    ) -> Option:
        """The first of some additions that is right beside what there is; nothing where none is.

        Args:
            base: What there is.
            additions: What may stand beside it, or in the place of a part of it, likeliest first.
            tried: Runs the whole.
            right: The error up to which it is right.

        Raises:
            Fault: A trial ended the process.
        """
        for addition in additions:
            result = tried(self, {**base, **addition})
            if result.ran and result.error <= right:
                return addition
        return {}

    def bind(self, family: Family) -> None:
        """Bind the role that a family is named after; where it is written by hand, its readings are tried."""
        written = self.bound.pop(family.name, None)
        of_hand: Option = {family.name: written} if written else {}
        found = self.settle(replace(family, options=lambda _: [of_hand]) if written else family)
        self.bound.update(found[0] if found else of_hand)

    def settle(self, family: Family) -> tuple[Option, Trial] | None:
        """The first reading that is right, else the likeliest that is meant; ``None`` if there is none.

        Raises:
            Fault: A trial ended the process.
        """
        meant: tuple[Option, Trial] | None = None
        for option in islice(family.options(self), family.most):
            for reading in family.readings(self, option):
                result = family.trial(self, reading)
                if result.ran and result.error <= family.right:
                    return reading, result
                likelier = meant is None or family.rank(reading, result) < family.rank(*meant)
                if result.ran and likelier and family.meant(self, reading, result):
                    meant = reading, result
                if family.claims(reading):
                    self.note(family.name, _told(reading, result), most=family.shown)
        return meant


def _told(option: Mapping[str, Binding], result: Trial) -> str:
    """What was tried and how it went, in one line."""
    targets = ", ".join(dict.fromkeys(binding.target for binding in option.values()))
    return f"{targets}: {result.said or f'runs, error {result.error:.2g}'}"
