"""The styles of syntax, which come from Pygments.

Pygments is imported in :func:`syntax_styles` only, which runs beside the first highlight.
"""

from __future__ import annotations

from functools import lru_cache

from rich.style import Style
from textual.color import Color

from judge_tui.tui.code.grammars import STYLES
from judge_tui.tui.look.palette import THEMES

__all__ = ["syntax_styles"]

_CONTRAST = 4.5
_TOKENS = {
    "keyword": "Keyword",
    "function": "Name.Function",
    "type": "Name.Class",
    "string": "Literal.String",
    "escape": "Literal.String.Escape",
    "number": "Literal.Number",
    "constant": "Keyword.Constant",
    "comment": "Comment",
    # prose, like a comment: some styles would print a page of docstring in the red of strings
    "doc": "Comment",
    "decorator": "Name.Decorator",
    "builtin": "Name.Builtin",
    "call": "Name.Function",
    "self": "Name.Builtin.Pseudo",
    "operator": "Operator",
    "label": "Name.Label",
}


@lru_cache(maxsize=4)
def syntax_styles(dark: bool) -> tuple[Style, ...]:
    """One style per entry of :data:`STYLES`, foregrounds only."""
    from pygments.styles import get_style_by_name
    from pygments.token import string_to_tokentype

    style = get_style_by_name("nord-darker" if dark else "xcode")
    styles: list[Style] = []
    for name in STYLES:
        if not name:
            styles.append(Style.null())
            continue
        found = style.style_for_token(string_to_tokentype(f"Token.{_TOKENS[name]}"))
        color = _legible(f"#{found['color']}", dark) if found["color"] else None
        bold = name in ("keyword", "function", "type") and bool(found["bold"])
        styles.append(Style(color=color, italic=name in ("comment", "doc") or None, bold=bold or None))
    return tuple(styles)


def _legible(color: str, dark: bool) -> str:
    """The colour, moved towards the text's until it stands out from the ground (WCAG contrast of 4.5)."""
    theme = THEMES[0] if dark else THEMES[1]
    ground, ink = Color.parse(str(theme.background)), Color.parse(str(theme.foreground))
    present = Color.parse(color)
    for share in range(1, 11):
        if _contrast(present, ground) >= _CONTRAST:
            break
        present = Color.parse(color).blend(ink, share / 10)
    return present.hex


def _contrast(first: Color, second: Color) -> float:
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: Color) -> float:
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
