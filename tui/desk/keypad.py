"""Typing a score digit by digit: every keystroke stands at once, two digits are a score, 100 too."""

from __future__ import annotations

__all__ = ["Keypad"]


class Keypad:
    """Turns digits into a score of 0…100.

    ``8`` is 8 until ``5`` makes it 85; a third digit begins anew, except after ``10``.
    """

    def __init__(self) -> None:
        self.typed = ""

    def press(self, digit: str) -> int:
        """The score after one more digit."""
        if len(self.typed) < 2 or self.typed + digit == "100":
            self.typed += digit
        else:
            self.typed = digit
        return int(self.typed)

    def reset(self) -> None:
        """Begin anew with the next digit."""
        self.typed = ""
