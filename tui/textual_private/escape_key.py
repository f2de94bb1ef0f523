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

from textual import events
from textual._xterm_parser import (
    _MAX_SEQUENCE_SEARCH_THRESHOLD,
    BRACKETED_PASTE_START,
    SPECIAL_SEQUENCES,
    XTermParser,
)
from textual.message import Message

from judge_tui.tui.textual_private.ansi_keys import ANSI_SEQUENCES_KEYS
from judge_tui.tui.textual_private.hearing import hear
from judge_tui.tui.textual_private.pasting import PASTE_END, Pasting

__all__ = ["heed_pauses", "without_alt"]

_ALT = "alt+"
_ESC = "\x1b"
#: What begins a sequence behind Escape; the last ones begin answers of a terminal.
_BEGINNINGS = frozenset("[OP]_^X")
_CSI = "\x1b["
#: A control sequence from beginning to end (ECMA-48, 5.4): parameters, intermediate bytes, one final byte.
#: In a broken one they stand in any order: as terminals do, all up to the final byte is taken for it.
_CONTROL = re.compile(r"\x1b\[(?:<[0-?.+\-NaInfity]*(?![0-?.+\-NaInfity])[ -~]|[ -?]*[@-~])")
#: An answer of a terminal from beginning to end, behind its Escape: a string and its terminator.
_ANSWER = re.compile(r"\][^\x00-\x1f\x7f]+(?:\x07|\x1b\\)|[P^_X][^\x00-\x1f\x7f]+\x1b\\")
#: The beginnings of sequences that nobody types, as those of keys are typed: Escape and ``[``.
_LOST = re.compile(r"\x1b(?:\[.|\]\d+;)", re.S)
#: The same beginnings in eight bits.
_EIGHT_BITS = {chr(ord(sign) + 0x40): sign for sign in "[P]^_X"}
_BEGINS = re.compile(f"[{_ESC}{''.join(_EIGHT_BITS)}]")
#: A report of the mouse that goes on; some terminals send NaN for where it is not.
_MOUSE = re.compile(r"\x1b\[(?:<[0-?.+\-NaInfity]*|M.{0,2})", re.S)
#: Beginnings of longer sequences that look complete.
_BEGUN = frozenset(
    known[:end] for known in ANSI_SEQUENCES_KEYS if known.startswith(_CSI) for end in range(3, len(known))
)
#: Characters after which no sequence is waited for.
_LONGEST = 4096
_ALTERNATES = re.compile(r"\x1b\[(\d+)(?::(\d*))?(?::\d*)?(?:;(\d*)(?::(\d+))?)?(?:;([\d:]*))?([u~A-S])")
_SHIFT, _RELEASE = "2", "3"
#: What the parser knows beside keys: the mouse, the cursor's place, sizes, modes.
_FORMS = (
    re.compile(r"\x1b\[<\d+;-?\d+;-?\d+[Mm]"),
    re.compile(r"\x1b\[M..."),
    re.compile(r"\x1b\[\d+;\d+R"),
    re.compile(r"\x1b\[48;\d+(?::[\d:]*)?;\d+(?::[\d:]*)?;\d+(?::[\d:]*)?;\d+(?::[\d:]*)?t"),
    re.compile(r"\x1b\[\?\d+;\d\$y"),
)
#: What Alt and another key send, and what has a name of its own: ``alt+backspace``, ``alt+left``.
_ALT_KEYS = frozenset(
    sequence[1]
    for sequence, keys in ANSI_SEQUENCES_KEYS.items()
    if len(sequence) == 2 and sequence[0] == _ESC and isinstance(keys, tuple)
)
#: A sequence of which more than the beginning has arrived is no key: the rest is waited for so much longer.
_REST_S = 1.0

_Feed = Callable[[XTermParser, str], Iterable[Message]]
_Tick = Callable[[XTermParser], Iterable[Message]]


class _Intake:
    """What a parser is to get of what arrives, and when.

    Args:
        parser: The terminal's parser.
        feed: How it takes characters by itself.
        tick: How it notices a pause by itself.
    """

    def __init__(self, parser: XTermParser, feed: _Feed, tick: _Tick) -> None:
        self._parser, self._feed, self._tick = parser, feed, tick
        self._sequence = ""
        self._paste: Pasting | None = None

    def take(self, data: str) -> Iterable[Message]:
        """What characters that arrive come to."""
        if not data:
            yield from self._feed(self._parser, data)
            return
        yield from self._paused()
        at = 0
        while at < len(data):
            if self._paste is not None:
                rest = self._paste.take(data[at:])
                if rest is None:
                    return
                at = len(data) - len(rest)
                yield from self._pasted(self._paste)
            elif not self._in_sequence:
                if begins := _BEGINS.search(data, at):
                    data = f"{data[: begins.start()]}{_seven_bits(begins[0])}{data[begins.end() :]}"
                end = begins.end() if begins else len(data)
                yield from self._feed(self._parser, data[at:end])
                self._sequence, at = _ESC, end
            elif self._sequence == _ESC and (answer := _ANSWER.match(data, at)):
                # nobody asked for it here
                self._drop()
                at = answer.end()
            elif self._sequence[:2] == _CSI and not " " <= data[at] <= "~" and data[at] != _ESC:
                # no sequence holds that: what has come of it is none
                self._drop()
            elif (whole := _whole(self._sequence + data[at])) and not self._is_known(whole):
                self._drop()
                at += 1
                if (plain := _without_alternates(whole)) not in ("", whole) and self._is_known(plain):
                    yield from self._feed(self._parser, plain)
            elif self._goes_on(data, at):
                yield from self._go_on(data[at])
                at += 1
                if self._sequence == BRACKETED_PASTE_START:
                    self._paste = Pasting(time.monotonic())
            else:
                yield from self._cut_short()

    def look(self) -> Iterable[Message]:
        """What a pause comes to."""
        yield from self._paused()
        if self._paste is not None and self._paste.stalls(time.monotonic()):
            yield from self._pasted(self._paste)

    @property
    def _in_sequence(self) -> bool:
        return self._parser._timeout_time is not None

    def _go_on(self, character: str) -> Iterable[Message]:
        """Take one more character of the sequence that has begun.

        The parser gets a control sequence when it is whole: in a long one it would lose its patience.
        """
        self._sequence = _ESC if character == _ESC else self._sequence + character
        if len(self._sequence) <= len(_CSI) or not self._sequence.startswith(_CSI):
            yield from self._feed(self._parser, character)
        elif _whole(self._sequence):
            yield from self._feed(self._parser, self._sequence[len(_CSI) :])

    def _goes_on(self, data: str, at: int) -> bool:
        """Whether a character may belong to the sequence that has begun."""
        character = data[at]
        if self._sequence == _ESC:
            # one stroke of a key arrives in one piece, and nothing but another stroke with it
            stroke = at > 0 and data[at + 1 : at + 2] in ("", _ESC)
            return character == _ESC or character in _BEGINNINGS or (stroke and character in _ALT_KEYS)
        if self._sequence == _ESC + "O":
            return self._sequence + character in ANSI_SEQUENCES_KEYS
        if self._sequence == _ESC + "]":
            # answers begin with a number
            return character.isalnum()
        return character != _ESC

    def _paused(self) -> Iterable[Message]:
        due = self._parser._timeout_time
        if due is None or (len(self._sequence) > 2 and time.monotonic() < due + _REST_S):
            return
        yield from self._ended()

    def _cut_short(self) -> Iterable[Message]:
        """What a sequence comes to that does not go on, as if there was a pause."""
        self._parser._timeout_time = 0.0
        yield from self._ended()

    def _ended(self) -> Iterable[Message]:
        """What a sequence comes to that has no end: the parser tells the keys behind Escape.

        A control sequence that is more than its beginning is none of them.
        """
        if _LOST.match(self._sequence):
            self._drop()
            return
        # and Escape itself as their Alt, but where their names are words
        lost = len(self._sequence) > 1 and not self._sequence[1].isalnum()
        for message in self._tick(self._parser):
            if lost and isinstance(message, events.Key):
                yield events.Key("escape", _ESC)
                lost = False
            yield message

    def _is_known(self, sequence: str) -> bool:
        """Whether the parser makes something of a control sequence, and comes out of that."""
        if len(sequence) > _MAX_SEQUENCE_SEARCH_THRESHOLD:
            return False
        if sequence in SPECIAL_SEQUENCES or any(form.fullmatch(sequence) for form in _FORMS):
            return True
        try:
            return bool(list(self._parser._sequence_to_key_events(sequence)))
        except (ValueError, OverflowError):
            return False

    def _drop(self) -> None:
        """Leave a sequence that has begun as if it had never come."""
        self._parser._timeout_time = 0.0
        for _ in self._tick(self._parser):
            pass
        self._sequence = ""

    def _pasted(self, paste: Pasting) -> Iterable[Message]:
        self._paste = None
        # to the parser it was empty
        for _ in self._feed(self._parser, PASTE_END):
            pass
        if text := paste.text:
            yield events.Paste(text)


def _seven_bits(sign: str) -> str:
    """What begins a sequence, as Escape and a letter."""
    return _ESC + _EIGHT_BITS.get(sign, "")


def _whole(sequence: str) -> str:
    """A control sequence that is complete; empty where more of it is to come, or where it is none."""
    if _MOUSE.fullmatch(sequence) or sequence in _BEGUN or len(sequence) == len(_CSI):
        return ""
    if sequence in ANSI_SEQUENCES_KEYS or _FORMS[1].fullmatch(sequence):
        return sequence
    return sequence if _CONTROL.fullmatch(sequence) or len(sequence) > _LONGEST else ""


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
    return f"{_CSI}{';'.join(parts)}{final}"


def heed_pauses() -> None:
    """Have the terminal's parser look for the pause whenever a key arrives, and leave pastes whole (once)."""
    feed: _Feed = XTermParser.feed
    tick: _Tick = XTermParser.tick
    if getattr(feed, "heeds_pauses", False):
        return

    def intake(parser: XTermParser) -> _Intake:
        taken: _Intake = parser.__dict__.setdefault("judge_intake", _Intake(parser, feed, tick))
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
