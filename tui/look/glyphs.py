"""How one character of a source is shown: what could act on a terminal becomes a symbol.

Control characters turn into their control pictures (``␛``), and everything that is
invisible, reorders text, or is measured differently by different terminals turns into
``⟦U+202E⟧``. Plain text only; nothing here knows a screen.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rich.cells import get_character_cell_size

__all__ = ["ALERT", "CONTROL", "PLAIN", "TAB", "glyph_of", "is_plain", "is_plain_text", "neutral", "spell"]

#: Kinds of glyph: as it stands, a control picture, something that deceives a reader.
PLAIN, CONTROL, ALERT = 0, 1, 2
#: Columns between tab stops.
TAB = 4

_DOTTED = "\N{DOTTED CIRCLE}"
_NBSP = "\N{NO-BREAK SPACE}"
_PLAIN_TEXT = bytes((*range(0x20, 0x7F), ord("\n")))
#: Printable by category, yet invisible, or joined with a neighbour by some terminals only.
_TREACHEROUS = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0x1F1E6, 0x1F1FF),
    (0x1F3FB, 0x1F3FF),
    (0xE0100, 0xE01EF),
)


def spell(character: str) -> str:
    """The name of a character in brackets: ``⟦U+202E⟧``, ``⟦xFF⟧`` for a byte that is not UTF-8."""
    point = ord(character)
    return f"⟦x{point - 0xDC00:02X}⟧" if 0xDC80 <= point <= 0xDCFF else f"⟦U+{point:04X}⟧"


@lru_cache(maxsize=8192)
def glyph_of(character: str) -> tuple[str, int, int]:
    """What stands for a character, its cells, and its kind.

    A tab is left to the caller, which knows the column. Zero cells mean that the glyph
    combines with the one before it.
    """
    point = ord(character)
    if 0x20 <= point < 0x7F:
        return character, 1, PLAIN
    if point < 0x20:
        return chr(0x2400 + point), 1, CONTROL
    if point == 0x7F:
        return "␡", 1, CONTROL
    if character == _NBSP:
        return "␣", 1, CONTROL
    if not character.isprintable() or any(low <= point <= high for low, high in _TREACHEROUS):
        return spell(character), len(spell(character)), ALERT
    width = get_character_cell_size(character)
    if width == 0 and not unicodedata.category(character).startswith("M"):
        return spell(character), len(spell(character)), ALERT
    return character, width, PLAIN


def is_plain(text: str) -> bool:
    """Whether every character stands for itself in one cell (the usual line, told at the speed of C)."""
    return text.isascii() and text.isprintable()


def is_plain_text(text: str) -> bool:
    """Whether every line of a text is plain."""
    return text.isascii() and not text.encode().translate(None, _PLAIN_TEXT)


def neutral(text: str, *, keep_newlines: bool = False) -> str:
    """Any text made safe to show: names, summaries, captured output.

    Args:
        text: What came from a submission.
        keep_newlines: Leave line feeds standing.
    """
    if is_plain(text):
        return text
    pieces: list[str] = []
    for character in text:
        if character == "\n" and keep_newlines:
            pieces.append(character)
        elif character == "\t":
            pieces.append("    ")
        else:
            glyph, width, _ = glyph_of(character)
            pieces.append(_DOTTED + glyph if width == 0 and not pieces else glyph)
    return "".join(pieces)
