"""Text made safe to show: what could act on a terminal or deceive a reader becomes a symbol."""

from __future__ import annotations

__all__ = ["plain"]


def plain(text: str, *, keep_newlines: bool = False) -> str:
    """The text with control characters as pictures (``␛``) and invisible ones spelled (``⟦U+202E⟧``).

    Args:
        text: From a file, a submission or a name.
        keep_newlines: Leave line feeds standing; otherwise they become pictures too.
    """
    if text.isprintable():
        return text
    return "".join(ch if ch == "\n" and keep_newlines else _shown(ch) for ch in text)


def _shown(character: str) -> str:
    point = ord(character)
    if character == "\t":
        return " "
    if point < 0x20:
        return chr(0x2400 + point)
    if point == 0x7F:
        return "␡"
    if 0xDC80 <= point <= 0xDCFF:
        return f"⟦x{point - 0xDC00:02X}⟧"
    return character if character.isprintable() else f"⟦U+{point:04X}⟧"
