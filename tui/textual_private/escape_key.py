"""The Escape key, told apart from the escape sequences that begin with the same byte.

A terminal sends Escape as the byte that also begins its sequences and its Alt keys. Textual tells them
apart by a pause, but looks for the pause only while nothing arrives: Escape and ``2`` in quick
succession become Alt+2, the editor stays open, and the digit ends up in the text. Where a sentence
follows, Escape is lost. And a paste that contains the byte is taken to pieces.

A sequence that Textual does not know it tells as the keys that it is spelt with, and one that it knows in
part may end the program: terminals send more than any list has. Here such a sequence is swallowed whole.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable

from textual import constants, events
from textual._xterm_parser import (
    _MAX_SEQUENCE_SEARCH_THRESHOLD,
    BRACKETED_PASTE_START,
    SPECIAL_SEQUENCES,
    XTermParser,
)
from textual.message import Message

from judge_tui.tui.textual_private.hearing import hear
from judge_tui.tui.textual_private.pasting import PASTE_END, Pasting
from judge_tui.tui.textual_private.sequences import CSI, ESC, Was, late_begun, late_end, reading

__all__ = ["heed_pauses", "without_alt"]

_ALT = "alt+"
#: What begins a sequence in eight bits, and behind Escape.
_EIGHT_BITS = {chr(ord(sign) + 0x40): sign for sign in "[P]^_X"}
_BEGINS = re.compile(f"[{ESC}{''.join(_EIGHT_BITS)}]")
#: Of a string without an end no more is kept than tells that it is one.
_LONGEST, _KEPT = 1 << 16, 64
_ALTERNATES = re.compile(r"\x1b\[(\d+)(?::(\d*))?(?::\d*)?(?:;(\d*)(?::(\d+))?)?(?:;([\d:]*))?([u~A-S])")
_SHIFT, _RELEASE = "2", "3"
#: The size of the terminal, in cells and pixels: what no screen has would end the program.
_SIZE = re.compile(
    r"\x1b\[48;([1-9]\d{0,3})(?::[\d:]*)?;([1-9]\d{0,3})(?::[\d:]*)?"
    r";(\d{1,6})(?::[\d:]*)?;(\d{1,6})(?::[\d:]*)?t"
)
#: What the parser knows beside keys: the mouse, the cursor's place, sizes, modes.
_FORMS = (
    re.compile(r"\x1b\[<\d+;-?\d+;-?\d+[Mm]"),
    re.compile(r"\x1b\[M..."),
    re.compile(r"\x1b\[\d+;\d+R"),
    _SIZE,
    re.compile(r"\x1b\[\?\d+;\d\$y"),
)
#: A sequence of which more than the beginning has arrived is no key: the rest is waited for so much longer.
_REST_S = 1.0
#: So long may one lag in all: what comes behind a broken one all the time is typed.
_LAG_S = 2.0

_Feed = Callable[[XTermParser, str], Iterable[Message]]


class _Intake:
    """What a parser is to get of what arrives, and when: text, pastes, and sequences that it knows, whole.

    Args:
        parser: The terminal's parser.
        feed: How it takes characters by itself.
    """

    def __init__(self, parser: XTermParser, feed: _Feed) -> None:
        self._parser, self._feed = parser, feed
        #: A sequence of which more may come, from Escape on, and how much of it is done with already.
        self._held, self._done = "", 0
        self._was: Was = "keys"
        #: When the first and the last of it came, how long more is waited for, and how much came at once.
        self._began, self._came, self._patience, self._first_burst = 0.0, 0.0, 0.0, 0
        self._paste: Pasting | None = None

    def take(self, data: str) -> Iterable[Message]:
        """What characters that arrive come to."""
        if not data:
            yield from self._feed(self._parser, data)
            return
        yield from self.look()
        if not self._first_burst and time.monotonic() > self._came + constants.ESCAPE_DELAY:
            self._first_burst = len(self._held)
        if self._done:
            yield from self._take_late(data)
        else:
            held, self._held = self._held, ""
            yield from self._read(held + data, len(held))

    def look(self) -> Iterable[Message]:
        """What a pause comes to."""
        now = time.monotonic()
        lags = bool(self._first_burst) and not self._done and now > self._began + self._patience + _LAG_S
        if self._held and (now > self._came + self._patience or lags):
            yield from self._paused()
        if self._paste is not None and self._paste.stalls(now):
            yield from self._pasted(self._paste)

    def _hold(self, sequence: str, patience: float, *, done: int = 0, was: Was = "keys") -> None:
        """Wait for more of a sequence."""
        self._held, self._done, self._was = sequence, done, was
        self._came, self._patience = time.monotonic(), constants.ESCAPE_DELAY + patience

    def _take_late(self, data: str) -> Iterable[Message]:
        """What comes behind a sequence that is done with: the rest of it, or something else."""
        done, was, text = self._done, self._was, self._held + data
        self._held, self._done = "", 0
        end = late_end(text, was)
        if end > done + 1:
            if was == "keys":
                yield from self._meant(text[:end])
            yield from self._read(text[end:], 0)
        elif late_begun(text, was):
            self._hold(text, _REST_S if len(text) > done + 1 else 0.0, done=done, was=was)
        else:
            yield from self._read(text[done:], 0)

    def _read(self, text: str, held: int, *, ended: bool = False) -> Iterable[Message]:
        """What a text comes to.

        Args:
            text: The text.
            held: How much of it has come earlier.
            ended: Whether there was a pause behind it.
        """
        at = 0
        while at < len(text):
            if self._paste is not None:
                rest = self._paste.take(text[at:])
                if rest is None:
                    return
                at = len(text) - len(rest)
                yield from self._pasted(self._paste)
                continue
            begins = _BEGINS.search(text, at)
            if begins is None or begins.start() > at:
                end = len(text) if begins is None else begins.start()
                yield from self._feed(self._parser, text[at:end])
                at = end
                continue
            eight = _EIGHT_BITS.get(begins[0], "")
            sequence = ESC + eight + text[begins.end() :]
            found = reading(sequence, self._is_meant, ended=ended, at_once=at >= held)
            if found.kind == "open" and not found.likely and len(sequence) > _LONGEST:
                # it was typed, or is a paste that nobody has told from keys
                ended = True
                continue
            if found.kind == "open":
                self._wait_for_more(sequence, new=at >= held, likely=found.likely)
                return
            end = found.end
            if found.kind == "whole":
                yield from self._meant(sequence[:end])
            elif found.kind == "lost" and at < held and sequence[1] != "[":
                # a string has lost its end: what came after a pause was typed
                end = min(end, self._first_burst or end)
            elif found.kind == "escape" and not eight:
                yield events.Key("escape", ESC)
            at = begins.end() + max(end - 1 - len(eight), 0)
            if found.kind == "whole" and at == len(text):
                self._remember(sequence[:end])

    def _wait_for_more(self, sequence: str, *, new: bool, likely: bool) -> None:
        if new:
            self._began, self._first_burst = time.monotonic(), 0
        if len(sequence) > _LONGEST:
            sequence = sequence[:_KEPT]
        self._hold(sequence, _REST_S if likely else 0.0)

    def _remember(self, sequence: str) -> None:
        """Think of a sequence that is done with, where more of it may come."""
        was: Was = "known" if self._is_meant(sequence) else "dropped"
        if sequence.startswith(CSI) and late_begun(sequence, was):
            self._hold(sequence, _REST_S, done=len(sequence), was=was)

    def _paused(self) -> Iterable[Message]:
        """What a sequence comes to of which no more has come: the keys behind Escape, or nothing."""
        held, done, was = self._held, self._done, self._was
        self._held, self._done = "", 0
        if done == len(held):
            return
        yield from self._read(held[done:], len(held), ended=True)
        if was == "keys" and not self._held and (late_begun(held, was) or held == ESC):
            self._hold(held, _REST_S, done=len(held))

    def _meant(self, sequence: str) -> Iterable[Message]:
        """What a sequence comes to; nothing where nobody knows it."""
        if not self._is_known(sequence):
            sequence = _without_alternates(sequence)
        if sequence and self._is_known(sequence):
            yield from self._feed(self._parser, _sized(sequence))
        if sequence == BRACKETED_PASTE_START:
            self._paste = Pasting(time.monotonic())

    def _is_known(self, sequence: str) -> bool:
        """Whether the parser makes something of a sequence, and comes out of that."""
        if len(sequence) > _MAX_SEQUENCE_SEARCH_THRESHOLD:
            return False
        if sequence in SPECIAL_SEQUENCES or any(form.fullmatch(sequence) for form in _FORMS):
            return True
        try:
            return bool(list(self._parser._sequence_to_key_events(sequence)))
        except (ValueError, OverflowError):
            return False

    def _is_meant(self, sequence: str) -> bool:
        return _ALTERNATES.fullmatch(sequence) is not None or self._is_known(sequence)

    def _pasted(self, paste: Pasting) -> Iterable[Message]:
        self._paste = None
        # to the parser it was empty
        for _ in self._feed(self._parser, PASTE_END):
            pass
        if text := paste.text:
            yield events.Paste(text)


def _sized(sequence: str) -> str:
    """A report of the terminal's size, a cell being a pixel where nobody knows how large it is."""
    found = _SIZE.fullmatch(sequence)
    if found is None or (int(found[3]) and int(found[4])):
        return sequence
    return f"{CSI}48;{found[1]};{found[2]};{found[1]};{found[2]}t"


def _without_alternates(sequence: str) -> str:
    """A key of Kitty's protocol without the other keys of its place, the shifted one taken for its text.

    Empty where the key is let go, which is no stroke.

    Source: Kitty's keyboard protocol, "An overview": ``code:shifted:base; modifiers:event; text``.
    """
    if (found := _ALTERNATES.fullmatch(sequence)) is None:
        return sequence
    code, shifted, modifiers, event, text, final = found.groups(default="")
    if event == _RELEASE:
        return ""
    if shifted and not text and modifiers == _SHIFT:
        text = shifted
    parts = [code, modifiers or "1", *([text] if text else [])]
    return f"{CSI}{';'.join(parts)}{final}"


def heed_pauses() -> None:
    """Have the terminal's parser look for the pause whenever a key arrives, and leave pastes whole (once)."""
    feed: _Feed = XTermParser.feed
    if getattr(feed, "heeds_pauses", False):
        return

    def intake(parser: XTermParser) -> _Intake:
        taken: _Intake = parser.__dict__.setdefault("judge_intake", _Intake(parser, feed))
        return taken

    def patient(self: XTermParser, data: str) -> Iterable[Message]:
        hear(data)
        return intake(self).take(data)

    def looking(self: XTermParser) -> Iterable[Message]:
        return intake(self).look()

    patient.heeds_pauses = True  # type: ignore[attr-defined]
    XTermParser.feed = patient  # type: ignore[method-assign]
    XTermParser.tick = looking  # type: ignore[method-assign,assignment]


def without_alt(event: events.Key) -> list[events.Key]:
    """Alt and a letter as Escape and the letter: no key here has Alt, and the two look the same."""
    letter = event.character
    if not event.key.startswith(_ALT) or letter is None or len(letter) != 1 or not letter.isprintable():
        return [event]
    return [events.Key("escape", "\x1b"), events.Key(letter, letter)]
