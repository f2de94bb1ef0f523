"""The sentences of an outcome, what decided in front: a list shows the beginning of them."""

from __future__ import annotations

from judge_tui.checks.check import Findings
from judge_tui.checks.verdict import SEVERITY, Verdict

__all__ = ["Sentences"]


class Sentences(list[str]):
    """Sentences in the order of the parts that they are about.

    Args:
        found: The evidence; a sentence that is appended after it has become worse is what decided;
            where that was taken out again, the next one.
    """

    def __init__(self, found: Findings) -> None:
        super().__init__()
        self._found, self._worst = found, Verdict.PASS
        self._decided = ""

    def append(self, sentence: str) -> None:
        """Add what a part came to."""
        verdict = self._found.verdict
        taken_back = bool(self._decided) and self._decided not in self and verdict == self._worst
        if verdict is not None and (taken_back or SEVERITY[verdict] < SEVERITY[self._worst]):
            self._worst, self._decided = verdict, sentence
        super().append(sentence)

    def told(self) -> str:
        """All of them in one line."""
        first = [sentence for sentence in self if sentence == self._decided]
        return "; ".join([*first, *(sentence for sentence in self if sentence != self._decided)])
