"""What a terminal may send: keys and pastes, and among them sequences that are broken or not known."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

__all__ = ["STREAMS", "Piece", "chunks", "sent", "typed"]

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
    """

    data: str
    text: str = ""
    open: bool = False


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
STREAMS = st.lists(
    st.one_of(_TEXT, _TEXT, _PASTE, _UNKNOWN, _MOUSE, _STRING, _EIGHT_BITS, _HUGE, _CUT),
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


def chunks(stream: Sequence[Piece], seed: int) -> Iterator[str]:
    """A stream in reads, cut anywhere but within an answer of the terminal."""
    rng = random.Random(seed)
    for data in _closed(stream):
        whole = data[:2] in ("\x1b]", "\x1bP", "\x1b^", "\x1b_", "\x1bX")
        at = 0
        while at < len(data):
            end = len(data) if whole else rng.randrange(at + 1, len(data) + 1)
            yield data[at:end]
            at = end
