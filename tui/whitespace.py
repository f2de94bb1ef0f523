"""Tabs and trailing blanks made visible, on demand and without a cell more or less."""

from __future__ import annotations

from dataclasses import replace

from judge_tui.tui.glyphs import CONTROL
from judge_tui.tui.source import Window

__all__ = ["with_whitespace"]

_TAB, _BLANK = "→", "·"
_BLANKS = " \t"
_FAR = 4096


def with_whitespace(window: Window, line: str) -> Window:
    """The part of a line in view, with an arrow for each tab and a dot for each blank at its end.

    Args:
        window: What is in view.
        line: The whole line.
    """
    end = window.char + len(window.glyphs)
    # a line of megabytes is not looked through for each row of it: what follows the view is, for a while
    rest = line[end : end + _FAR]
    ends = len(line) <= end + _FAR and not rest.strip(_BLANKS)
    trailing = window.char + len(line[window.char : end].rstrip(_BLANKS)) if ends else end
    tabs = "\t" in line[window.char : end]
    if trailing >= end and not tabs:
        return window
    glyphs = list(window.glyphs)
    kinds = bytearray(window.kinds or bytes(len(glyphs)))
    for at, character in enumerate(line[window.char : end]):
        if character == "\t":
            glyphs[at] = _TAB + glyphs[at][1:]
        elif character == " " and window.char + at >= trailing:
            glyphs[at] = _BLANK
        else:
            continue
        kinds[at] = CONTROL
    return replace(window, glyphs=glyphs, kinds=bytes(kinds))
