"""Numbers of attempts, which tell one answer of a model from another as a name would."""

from __future__ import annotations

import re
from collections.abc import Iterable

from judge_tui.checks.attempts import SIGN, attempt_of

__all__ = ["Numbers"]


class Numbers:
    """Finds the numbers of attempts, as they stand behind names of models and of their folders.

    Args:
        names: Of models and their attempts.
    """

    def __init__(self, names: Iterable[str]) -> None:
        known = sorted({attempt for name in names if (attempt := attempt_of(name)[1]) > 1})
        self._known = re.compile(rf"{SIGN}(?:{'|'.join(map(str, known))})(?!\w)") if known else None

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where they stand in a text: (first, end) of each, in order."""
        return [match.span() for match in self._known.finditer(text)] if self._known else []
