"""The Escape key, told apart from the escape sequences that begin with the same byte.

A terminal sends Escape as the byte that also begins its sequences and its Alt keys. Textual tells them
apart by a pause, but looks for the pause only while nothing arrives: Escape and ``2`` in quick
succession become Alt+2, the editor stays open, and the digit ends up in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual import events
from textual._xterm_parser import XTermParser
from textual.message import Message

__all__ = ["heed_pauses", "without_alt"]

_ALT = "alt+"


def heed_pauses() -> None:
    """Have the terminal's parser look for the pause whenever a key arrives (once per process)."""
    feed: Callable[[XTermParser, str], Iterable[Message]] = XTermParser.feed
    if getattr(feed, "heeds_pauses", False):
        return

    def patient(self: XTermParser, data: str) -> Iterable[Message]:
        yield from self.tick()
        yield from feed(self, data)

    patient.heeds_pauses = True  # type: ignore[attr-defined]
    XTermParser.feed = patient  # type: ignore[method-assign,assignment]


def without_alt(event: events.Key) -> list[events.Key]:
    """Alt and a letter as Escape and the letter: no key here has Alt, and the two look the same."""
    letter = event.character
    if not event.key.startswith(_ALT) or letter is None or len(letter) != 1 or not letter.isprintable():
        return [event]
    return [events.Key("escape", "\x1b"), events.Key(letter, letter)]
