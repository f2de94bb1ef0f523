"""Typing a score digit by digit: every keystroke stands at once, two digits are a score, 100 too."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Keypad"]

#: Seconds. Who types another score has looked at the one that stands; a slip of the finger comes sooner.
_LOOK_S = 0.7


class Keypad:
    """Turns digits into a score of 0…100.

    ``8`` is 8 until ``5`` makes it 85, and ``10`` is 10 until ``0`` makes it 100. A digit more is refused
    when it comes at once, and begins another score after a moment; so does any after a longer one. What
    comes at once behind a decimal point is refused too: scores are whole.

    Args:
        clock: Seconds from some moment on.
    """

    #: Seconds. Who has looked at one digit for so long does not go on with it.
    REST_S = 2.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.typed = ""
        self._clock, self._at = clock, 0.0
        self._pointed = False

    def press(self, digit: str) -> int | None:
        """The score after one more digit; ``None`` where it is refused."""
        before, self._at = self._at, self._clock()
        if self._pointed and self._at - before < _LOOK_S:
            return None
        if self._pointed or self._at - before > self.REST_S:
            self.reset()
        if len(self.typed) < 2 or self.typed + digit == "100":
            self.typed += digit
        elif self._at - before < _LOOK_S:
            return None
        else:
            self.typed = digit
        return int(self.typed)

    @property
    def unfinished(self) -> bool:
        """Whether what is typed may still become another score: 8, which 2 makes 82, or 10."""
        return self.typed in {*"0123456789", "10"} and self._clock() - self._at <= self.REST_S

    def point(self) -> bool:
        """Type a decimal point; whether it stands at once behind a digit, and is no key of its own."""
        now = self._clock()
        if not self.typed or now - self._at >= _LOOK_S:
            return False
        self._pointed, self._at = True, now
        return True

    def reset(self) -> None:
        """Begin anew with the next digit."""
        self.typed, self._pointed = "", False
