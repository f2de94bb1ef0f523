"""How a line that is being written is shown: one glyph for each character, so that a cursor has its place.

What could act on a terminal, hides or reorders text is a control picture (``␛``), or ``␦`` where it has none;
:func:`~judge_tui.tui.look.glyphs.neutral` spells it out where no cursor goes. Accents on a letter stand, and
so does what joins emoji where it joins them: a person and a laptop, a heart's colour, skins, flags, digits in
a box. The same joiners between anything else are ``␦``, since terminals do not agree on how wide they are.
Only what is shown changes: the text keeps each character.
"""

from __future__ import annotations

import re
import unicodedata

from judge_tui.tui.look.glyphs import CONTROL, PLAIN, glyph_of, is_plain

__all__ = ["HIDDEN", "written"]

#: Stands for one character that is invisible, or deceives.
HIDDEN = "␦"

_DOTTED = "\N{DOTTED CIRCLE}"
_EMOJI = (
    "[©®\u203c-\u23ff\u2460-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff]"
)
_FLAG, _SKIN, _LOOK = "[\U0001f1e6-\U0001f1ff]", "[\U0001f3fb-\U0001f3ff]", "[\ufe0e\ufe0f]"
_JOINER = re.compile(f"{_FLAG}|{_SKIN}|{_LOOK}|\u200d")
_ONE = f"{_EMOJI}{_LOOK}?{_SKIN}?"
#: Sequences that are one picture; else a joiner alone.
_JOINED = re.compile(
    f"{_ONE}(?:\u200d{_ONE})*|{_FLAG}{_FLAG}|[0-9#*]\ufe0f\u20e3|(?P<alone>{_JOINER.pattern})"
)


class _Signs(dict[int, str]):
    """What stands for a character wherever it is; for :meth:`str.translate`."""

    def __missing__(self, point: int) -> str:
        character = chr(point)
        glyph, _, kind = glyph_of(character)
        kept = kind == PLAIN or _JOINER.fullmatch(character) is not None
        sign = self[point] = character if kept else glyph if kind == CONTROL else HIDDEN
        return sign


_SIGNS = _Signs()


def written(line: str, *, tabs: bool = False) -> str:
    """A line as it is shown while it is edited: as many characters, none of which acts on a terminal.

    Args:
        line: A line of a text.
        tabs: Leave tabs standing, for who knows the columns.
    """
    if is_plain(line):
        return line
    if tabs and "\t" in line:
        return "\t".join(map(written, line.split("\t")))
    shown = _JOINED.sub(_in_place, line.translate(_SIGNS))
    # an accent has no letter to stand on
    return _DOTTED + shown[1:] if unicodedata.category(shown[0]).startswith("M") else shown


def _in_place(match: re.Match[str]) -> str:
    return HIDDEN if match["alone"] else match[0]
