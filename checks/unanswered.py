"""Calls that raise among others that answer: taken down, so that what the others show is told as well."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Raised
from judge_tui.checks.size_conditions import only_where
from judge_tui.checks.verdict import BROKE, Verdict

__all__ = ["Unanswered"]

#: So many calls that raise before any has answered are enough.
_ENOUGH = 4


@dataclass(slots=True)
class Unanswered:
    """Calls of one check, by whether they raised.

    Attributes:
        calls: Axis → size of each call, and whether it answered.
        faults: What was raised.
        compared: Pairs of axes of which one may have to be larger than the other.
    """

    calls: list[tuple[Mapping[str, int], bool]] = field(default_factory=list)
    faults: list[Raised] = field(default_factory=list)
    compared: Sequence[tuple[str, str]] = ()

    @contextlib.contextmanager
    def trying(self, sizes: Mapping[str, int]) -> Iterator[None]:
        """Call; what is raised is taken down.

        Args:
            sizes: Of the call.

        Raises:
            Raised: No call has answered so far, and others have raised as well.
        """
        try:
            yield
        except Raised as fault:
            self.calls.append((sizes, False))
            self.faults.append(fault)
            if len(self.faults) == len(self.calls) >= _ENOUGH:
                raise self.faults[0] from fault
        else:
            self.calls.append((sizes, True))

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Look for more where calls have raised, as far as that does not raise as well."""
        try:
            yield
        except Raised:
            if not self.faults:
                raise

    def needed(self, *answers: Sequence[object]) -> None:
        """End the check where one of several kinds of calls has no answer at all.

        Raises:
            Raised: What the first call raised.
        """
        if self.faults and not all(answers):
            raise self.faults[0]

    def tell(self, found: Findings, text: str) -> str:
        """The summary with what was raised.

        Args:
            found: Where it is noted; it fails the check.
            text: What the calls that answered show.
        """
        if not self.faults:
            return text
        wrong = found.verdict is Verdict.FAIL
        fault, many = self.faults[0], len(self.faults)
        found.claim(
            "calls that raise", False, measured=f"{many} of {len(self.calls)}: {fault.message}",
            file=fault.file, line=fault.line, output=fault.output,
        )  # fmt: skip
        where = only_where(self.calls, compared=self.compared, limits=True).replace("wrong", "raises")
        alone = f" (in {many} of {len(self.calls)} calls)"
        where = f"; {where.replace('right', 'answers')}" if where else alone
        raised = f"{fault.placed}{where}"
        return f"{text}; and {BROKE}{raised}" if wrong else f"{BROKE}{raised}; otherwise {text}"
