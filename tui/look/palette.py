"""Colours: the app's themes, and what stands for verdicts and kinds of notes."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES, Theme

from judge_tui.checks.verdict import SIGNS, Verdict

__all__ = ["KIND_MARKS", "THEMES", "VERDICTS", "themes_for"]

_PLAIN_CURSOR = {"block-cursor-text-style": "none"}
THEMES = (
    Theme(
        name="judge-dark",
        dark=True,
        primary="#88c0d0",
        secondary="#81a1c1",
        accent="#ebcb8b",
        foreground="#d8dee9",
        background="#171a21",
        surface="#1d212a",
        panel="#252a35",
        success="#a3be8c",
        warning="#ebcb8b",
        error="#e06c75",
        variables=_PLAIN_CURSOR
        | {"border": "#768090", "border-blurred": "#707886", "input-selection-background": "#88c0d0 30%"},
    ),
    Theme(
        name="judge-light",
        dark=False,
        primary="#2e6e8e",
        secondary="#4c6a92",
        accent="#9a6700",
        foreground="#24292f",
        background="#fbfbf9",
        surface="#f3f3ef",
        panel="#e8e8e2",
        success="#3b7d2b",
        warning="#9a6700",
        error="#b3262e",
        variables=_PLAIN_CURSOR | {"border": "#80807a", "border-blurred": "#84847c"},
    ),
)
#: The same of the colours that a terminal of 256 has: rounded, green would be yellow.
_OF_256 = (
    Theme(
        name="judge-dark",
        dark=True,
        primary="#87d7d7",
        secondary="#87afd7",
        accent="#ffd787",
        foreground="#dadada",
        background="#1c1c1c",
        surface="#262626",
        panel="#303030",
        success="#afd787",
        warning="#ffd787",
        error="#ff8787",
        variables=_PLAIN_CURSOR
        | {"border": "#8a8a8a", "border-blurred": "#808080", "input-selection-background": "#4e4e4e"},
    ),
    Theme(
        name="judge-light",
        dark=False,
        primary="#005f87",
        secondary="#5f5f87",
        accent="#875f00",
        foreground="#262626",
        background="#ffffff",
        surface="#eeeeee",
        panel="#e4e4e4",
        success="#005f00",
        warning="#875f00",
        error="#af0000",
        variables=_PLAIN_CURSOR | {"border": "#767676", "border-blurred": "#808080"},
    ),
)
_CURSORS = {
    "block-cursor-foreground": "ansi_black",
    "block-cursor-background": "ansi_white",
    "block-cursor-blurred-foreground": "ansi_default",
    "block-cursor-blurred-background": "ansi_default",
    "input-cursor-background": "ansi_white",
    "input-cursor-foreground": "ansi_black",
    "input-selection-background": "ansi_white",
    "input-selection-foreground": "ansi_black",
    "screen-selection-background": "ansi_white",
    "screen-selection-foreground": "ansi_black",
    "border": "ansi_default",
    "border-blurred": "ansi_default",
}
#: The same of the reader's own sixteen colours, on the reader's own ground.
_OF_16 = (
    Theme(
        name="judge-dark",
        ansi=True,
        dark=True,
        primary="ansi_bright_cyan",
        secondary="ansi_bright_blue",
        accent="ansi_bright_yellow",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        success="ansi_bright_green",
        warning="ansi_bright_yellow",
        error="ansi_bright_red",
        variables=BUILTIN_THEMES["ansi-dark"].variables | _PLAIN_CURSOR | _CURSORS,
    ),
    Theme(
        name="judge-light",
        ansi=True,
        dark=False,
        primary="ansi_blue",
        secondary="ansi_magenta",
        accent="ansi_magenta",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        success="ansi_green",
        warning="ansi_magenta",
        error="ansi_red",
        variables=BUILTIN_THEMES["ansi-light"].variables | _PLAIN_CURSOR | _CURSORS,
    ),
)


def themes_for(colors: str | None) -> tuple[Theme, ...]:
    """The app's themes for a terminal.

    Args:
        colors: Rich's name of those that it has: ``standard``, ``256``, ``truecolor``; ``None`` for none.
    """
    return {"standard": _OF_16, "256": _OF_256}.get(colors or "", THEMES)


_TONES = {
    Verdict.PASS: "success",
    Verdict.FAIL: "error",
    Verdict.WARN: "warning",
    Verdict.SKIP: "muted",
    Verdict.UNBOUND: "secondary",
    Verdict.AMBIGUOUS: "secondary",
    Verdict.ERROR: "error",
}
#: Kind → glyph in the gutter and the name of its tone.
KIND_MARKS = {
    "strength": ("+", "success"),
    "weakness": ("−", "warning"),
    "bug": ("✗", "error"),
    "question": ("?", "primary"),
}
#: Verdict → glyph and the theme's colour. The word stands beside the glyph: colour never tells alone.
VERDICTS = {str(verdict): (SIGNS[verdict], tone) for verdict, tone in _TONES.items()}
