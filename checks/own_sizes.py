"""Calls at sizes that the submission's own source names, as far as a check's budget goes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Raised
from judge_tui.checks.refusing import refusal
from judge_tui.checks.sizes import About, Range
from judge_tui.checks.source_conditions import singles
from judge_tui.checks.verdict import Verdict

__all__ = ["OwnSizes", "named"]

#: The share of what is left of the budget that one call may be expected to take.
_SHARE = 0.25
#: Beside so many sizes there is one more that the source asks for alone.
_ALONE = 4


def named(bench: Bench, axes: Mapping[str, Range], most: int) -> list[About]:
    """Sizes that the submission's source names: up to half those of one condition together, others about one.

    Beside these, sizes that it asks for alone.

    Args:
        bench: Of the submission.
        axes: Name of each axis that they can concern → its range, the last axis of arrays first.
        most: How many at most, without those that it asks for alone.
    """
    alone = bench.sizes("alone").alone(singles(bench.submission), axes, most // _ALONE)
    together = bench.sizes("together").together(bench.conditions, axes, most // 2)
    left = most - len(together)
    return alone + together + bench.sizes("about").about(bench.integers, axes, left, products=bench.products)


class OwnSizes:
    """Sizes that the source names, least work first.

    What would take too long is left out and told; what the submission refuses by a statement of its own is
    its limit, no wrong answer, and warned of.

    Args:
        bench: Where they are called.
        axes: Name of each axis that an integer can concern → its range.
        most: How many sizes at most.
    """

    def __init__(self, bench: Bench, axes: Mapping[str, Range], most: int) -> None:
        self._bench = bench
        self._sizes = named(bench, axes, most)
        self._work, self._seconds = 1.0, 0.0
        self._left_out: list[About] = []
        self._refused: list[tuple[About, Raised]] = []

    @contextlib.contextmanager
    def pace(self, work: float) -> Iterator[None]:
        """Measure a call, so that it is known what others will take; that of most work counts.

        Args:
            work: In any unit that time grows with.
        """
        before = self._bench.left
        yield
        if work >= self._work:
            self._work, self._seconds = work, before - self._bench.left

    def affords(self, work: float) -> bool:
        """Whether the budget has the time that a call of so much work is expected to take."""
        return self._seconds * max(work / self._work, 1.0) <= _SHARE * self._bench.left

    def each(self, work: Callable[[About], float]) -> Iterator[About]:
        """The sizes that can be afforded.

        Args:
            work: How much work a call at a size is.
        """
        for one in sorted(self._sizes, key=work):
            if self.affords(work(one)):
                yield one
            else:
                self._left_out.append(one)

    @contextlib.contextmanager
    def trying(self, one: About, work: float) -> Iterator[None]:
        """Call at a size; a refusal is taken down.

        Args:
            one: The size.
            work: How much work the call is.

        Raises:
            Fault: Anything else went wrong.
        """
        try:
            with self.pace(work):
                yield
        except Raised as fault:
            if not refusal(self._bench.submission, fault):
                raise
            self._refused.append((one, fault))

    def tell(self, found: Findings) -> None:
        """Say what was refused and what was left out."""
        for one, fault in self._refused[:1]:
            found.claim(
                "answers at sizes about its own integers",
                False,
                measured=f"{one.words}: {refusal(self._bench.submission, fault)}",
                otherwise=Verdict.WARN,
                note="It refuses what the contract allows.",
                file=fault.file,
                line=fault.line,
            )
        if self._left_out:
            sizes = "; ".join(one.words for one in self._left_out[:4])
            found.note("sizes about its own integers that were too slow to try", sizes)
