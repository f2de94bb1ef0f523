"""What a terminal may send: keys and pastes, and among them sequences that are broken or not known."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from textual import constants
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

__all__ = ["ANSWERS", "STREAMS", "Piece", "Read", "escapes", "reads", "sent", "typed"]

#: Letters, signs and blanks; no digit, so that what is left of a sequence shows.
LETTERS = "abcdefgqswxyzABCMNPRST ,.;:?![](){}<>=+-_'é漢\u200d\u00a0"
_PARAMETERS = "0123456789;:<=>?"
#: Sequences of keys: what begins as one of them is that key, and what follows is text.
_KEYS = [known for known in ANSI_SEQUENCES_KEYS if len(known) > 2]
#: Final bytes of sequences that are no key, whatever their parameters.
_FINALS = "bcefghijklnopqrstvwxyz@`GKLNOUVWXY\\]^_{|}"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a stream.

    Attributes:
        data: What the terminal sends.
        text: What of it is typed.
        open: Whether it has no end: it is cut off by the next sequence, or by a pause.
        answer: Whether it may lag: an answer of the terminal, which comes in parts with pauses between them.
    """

    data: str
    text: str = ""
    open: bool = False
    answer: bool = False


def _unknown(parts: tuple[str, str, str]) -> Piece:
    parameters, between, final = parts
    # one that begins as a report of the mouse has the mouse's finals
    return Piece(f"\x1b[{parameters.replace('<', '>')}{between}{final}")


_TEXT = st.text(LETTERS, min_size=1, max_size=8).map(lambda text: Piece(text, text))
_PASTE = st.text(LETTERS + "\n", max_size=10).map(lambda text: Piece(f"\x1b[200~{text}\x1b[201~", text))
_UNKNOWN = (
    st.tuples(
        st.text(_PARAMETERS, min_size=1, max_size=9),
        st.one_of(st.text(' !"$', max_size=1), st.text(' !"$-./' + _PARAMETERS, max_size=6)),
        st.sampled_from(_FINALS),
    )
    .map(_unknown)
    .filter(lambda piece: not any(map(piece.data.startswith, _KEYS)))
)
_NUMBERS = st.sampled_from(("NaN", "-NaN", "Infinity", "1.5", "-3", "", ":", "1:2", "99999999999999999999"))
_MOUSE = st.tuples(st.lists(_NUMBERS, max_size=6), st.sampled_from("Mm")).map(
    lambda parts: Piece(f"\x1b[<{';'.join(parts[0])}{parts[1]}")
)
_STRING = st.tuples(
    st.sampled_from(("]", "P", "^", "_", "X")),
    st.text("0123456789;:/?abcrgb $=>|", min_size=1, max_size=12),
    st.sampled_from(("\x1b\\", "\x07")),
).map(lambda parts: Piece(f"\x1b{parts[0]}{parts[1]}{parts[2] if parts[0] == ']' else chr(27) + chr(92)}"))
#: What stands in place of numbers: words for what is none, letters that are no key, signs of other alphabets.
_WORDS = ("NaN", "-NaN", "nan", "Infinity", "-inf", "undefined", "null", "None", "true")
_LETTERS = ("x", "xyz", "gg", "0x1f", "1g", "zz9")
_FOREIGN = ("‹", "«", "？", "é", "漢", "‹‹")
_MARK = st.sampled_from(("", "", "<", ">", "?", "="))
_DIGITS = st.text("0123456789", min_size=1, max_size=4)


def _of_parts(parts: tuple[str, list[str], str]) -> Piece:
    mark, fields, final = parts
    return Piece(f"\x1b[{mark}{';'.join(fields)}{final}")


_WITH_WORDS = st.tuples(
    _MARK,
    st.lists(st.one_of(_DIGITS, st.sampled_from(_WORDS)), min_size=1, max_size=5).filter(
        lambda fields: any(field in _WORDS for field in fields)
    ),
    st.sampled_from("cRtMmqyh~"),
).map(_of_parts)
_WITH_LETTERS = st.tuples(
    _MARK,
    st.tuples(st.lists(st.one_of(_DIGITS, st.sampled_from(_LETTERS)), max_size=3), st.sampled_from(_LETTERS)),
    _DIGITS,
    st.sampled_from("cRtqyh"),
).map(lambda parts: _of_parts((parts[0], [*parts[1][0], parts[1][1], parts[2]], parts[3])))
_WITH_FOREIGN = st.tuples(
    st.sampled_from(("", "1", "1;", "<3")),
    st.sampled_from(_FOREIGN),
    st.text("0123456789;:", min_size=1, max_size=8),
    st.sampled_from("MmRcth"),
).map(lambda parts: Piece(f"\x1b[{''.join(parts)}"))
_SIZES = st.sampled_from(
    ("\x1b[48;0;0;0;0t", "\x1b[48;99999999;99999999;1;1t", "\x1b[48;0;80;1;1t", "\x1b[48;NaN;80;1;1t")
).map(Piece)
#: DA, DSR, the cursor, modes, Kitty's keyboard and pictures, colours, the clipboard, versions, sizes.
ANSWERS = tuple(
    Piece(data, answer=True)
    for data in (
        "\x1b[?62;22c", "\x1b[>1;10;0c", "\x1b[=0c", "\x1b[0n", "\x1b[?13n", "\x1b[12;40R", "\x1b[?12;40;1R",
        "\x1b[?2026;2$y", "\x1b[?2048;0$y", "\x1b[4;1$y", "\x1b[?7u", "\x1b[?0u", "\x1b[4;600;800t",
        "\x1b[8;24;80t", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "\x1b]10;rgb:ff/ff/ff\x07",
        "\x1b]4;1;rgba:cd/00/00/ff\x1b\\", "\x1b]52;c;" + "c2VjcmV0" * 12 + "\x07", "\x1b]99;i=1;ok\x1b\\",
        "\x1bP>|XTerm(388)\x1b\\", "\x1bP>|kitty(0.35.1)\x1b\\", "\x1bP1$r0;1m\x1b\\",
        "\x1bP!|7E4B4445\x1b\\",
        "\x1bP1+r544e=787465726d2d6b69747479\x1b\\", "\x1b_Gi=31;OK\x1b\\",
        "\x1b_Gi=31;ENOENT: no such file\x1b\\",
    )
)  # fmt: skip
_ANSWER = st.sampled_from(ANSWERS)
_EIGHT_BITS = _UNKNOWN.map(lambda piece: Piece("\x9b" + piece.data[2:]))
_HUGE = st.sampled_from(
    (
        "\x1b[57344;1:9;99999999999u",
        "\x1b[99999999999999u",
        "\x1b[106;1:3u",
        "\x1b[1114112;1u",
        "\x1b[;;;;;;u",
        "\x1b[" + "1;" * 60 + "m",
        "\x1b[27;5;9999999~",
    )
).map(Piece)
_CUT = st.one_of(
    st.text("0123456789;", min_size=1, max_size=6).map(lambda text: Piece(f"\x1b[{text}", open=True)),
    st.tuples(_NUMBERS, _NUMBERS).map(lambda parts: Piece(f"\x1b[<{';'.join(parts)}", open=True)),
    st.sampled_from(("\x1b[M", "\x1b[M!", "\x1b[?62", "\x1b]11;rgb:1e", "\x1b[200", "\x1b[20")).map(
        lambda data: Piece(data, open=True)
    ),
)
_BROKEN = (_WITH_WORDS, _WITH_LETTERS, _WITH_FOREIGN, _SIZES, _ANSWER, _ANSWER)
STREAMS = st.lists(
    st.one_of(_TEXT, _TEXT, _PASTE, _UNKNOWN, _MOUSE, _STRING, *_BROKEN, _EIGHT_BITS, _HUGE, _CUT),
    min_size=1,
    max_size=8,
)


def typed(stream: Sequence[Piece]) -> str:
    """What of a stream is text."""
    return "".join(piece.text for piece in stream)


def _closed(stream: Sequence[Piece]) -> Iterator[str]:
    """Piece by piece; what has no end is cut off by a report of the focus, where text follows."""
    for number, piece in enumerate(stream):
        following = stream[number + 1].data if number + 1 < len(stream) else ""
        cut_off = piece.open and not following.startswith("\x1b")
        yield piece.data + "\x1b[I" * cut_off


def sent(stream: Sequence[Piece]) -> str:
    """A stream as it arrives."""
    return "".join(_closed(stream))


@dataclass(frozen=True, slots=True)
class Read:
    """What arrives at once.

    Attributes:
        data: The characters.
        pause: Seconds before it.
    """

    data: str
    pause: float = 0.0


def reads(stream: Sequence[Piece], seed: int) -> Iterator[Read]:
    """A stream in reads, cut anywhere; answers of the terminal lag."""
    rng = random.Random(seed)
    for piece, data in zip(stream, _closed(stream), strict=True):
        at, pauses, lag = 0, piece.answer and rng.random() < 0.7, 0.0
        while at < len(data):
            # Escape, and a letter after a while, are typed: the rest of an answer comes in one part
            end = len(data) if pauses and 0 < at < 3 else rng.randrange(at + 1, len(data) + 1)
            pause = rng.choice((0.01, 0.2, 0.9)) if pauses and at and lag < 1.0 else 0.0
            yield Read(data[at:end], pause)
            at, lag = end, lag + pause


def escapes(parts: Sequence[Read]) -> int:
    """How many of some reads end in an Escape that nobody can tell from the key, by its delay."""
    behind = [*parts[1:], Read("", 2.0)]
    return sum(
        part.data.endswith("\x1b") and after.pause > constants.ESCAPE_DELAY
        for part, after in zip(parts, behind, strict=True)
    )
