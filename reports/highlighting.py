"""Lines of code as HTML, coloured by classes that a style sheet in the same file names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from io import StringIO

from markupsafe import Markup
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.token import _TokenType
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
    made = StringIO()
    formatter.format(_tokens(lexer, text, code.opening), made)
    return Markup(made.getvalue())


def _tokens(lexer: Lexer, text: str, opening: str) -> Iterator[tuple[_TokenType, str]]:
    """The tokens of a text, read as if what opens it stood above it."""
    above = len(opening) + 1 if opening else 0
    for kind, value in lexer.get_tokens(f"{opening}\n{text}" if opening else text):
        if above < len(value):
            yield kind, value[above:]
        above = max(0, above - len(value))


@cache
def style_sheet() -> Markup:
    """Colours for light screens and paper, and for dark ones."""
    light, dark = (
        str(HtmlFormatter(style=style).get_style_defs(".code"))  # type: ignore[no-untyped-call]
        for style in ("xcode", "github-dark")
    )
    return Markup(f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}")
