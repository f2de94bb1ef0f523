"""Lines of code as HTML, coloured by classes that a style sheet in the same file names."""

from __future__ import annotations

from functools import cache

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound

from judge_tui.judging.plain import plain
from judge_tui.judging.summaries.parts import Code

__all__ = ["highlighted", "style_sheet"]

#: Ends of names that Pygments takes for something else.
_LIKE = {".cuh": ".cu"}


def highlighted(code: Code) -> Markup:
    """The lines, numbered, those of a note marked; every line has an anchor of its own."""
    text = "\n".join(plain(line) for line in code.lines)
    suffix = next((like for end, like in _LIKE.items() if code.file.endswith(end)), "")
    try:
        lexer = get_lexer_for_filename(f"{code.file}{suffix}", stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    formatter = HtmlFormatter(
        linenos="inline", linenostart=code.first, hl_lines=[n - code.first + 1 for n in sorted(code.marked)],
        lineanchors=code.anchor, cssclass="code", wrapcode=True,
    )  # fmt: skip
    return Markup(highlight(text, lexer, formatter))


@cache
def style_sheet() -> Markup:
    """Colours for light screens and paper, and for dark ones."""
    light, dark = (
        str(HtmlFormatter(style=style).get_style_defs(".code"))  # type: ignore[no-untyped-call]
        for style in ("xcode", "github-dark")
    )
    return Markup(f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}")
