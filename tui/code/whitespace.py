"""Tabs and trailing blanks made visible, on demand and without a cell more or less."""

from __future__ import annotations

from msgspec.structs import replace

from judge_tui.tui.code.source import Window
from judge_tui.tui.code.text_lines import TextLines
from judge_tui.tui.look.glyphs import CONTROL

__all__ = ["with_whitespace"]

_TAB, _BLANK = "→", "·"
_BLANKS = " \t"
_FAR = 4096


def with_whitespace(window: Window, lines: TextLines, number: int) -> Window:
    """The part of a line in view, with an arrow for each tab and a dot for each blank at its end.

    Args:
        window: What is in view.
        lines: The lines of the file.
        number: Which of them is in view.
    """
    end = window.char + len(window.glyphs)
    text = lines.part(number, window.char, end)
    # a line of megabytes is not looked through for each row of it: what follows the view is, for a while
    ends = lines.length(number) <= end + _FAR and not lines.part(number, end, end + _FAR).strip(_BLANKS)
    trailing = window.char + len(text.rstrip(_BLANKS)) if ends else end
    if trailing >= end and "\t" not in text:
        return window
    glyphs = list(window.glyphs)
    kinds = bytearray(window.kinds or bytes(len(glyphs)))
    for at, character in enumerate(text):
        if character == "\t":
            glyphs[at] = _TAB + glyphs[at][1:]
        elif character == " " and window.char + at >= trailing:
            glyphs[at] = _BLANK
        else:
            continue
        kinds[at] = CONTROL
    return replace(window, glyphs=glyphs, kinds=bytes(kinds))
