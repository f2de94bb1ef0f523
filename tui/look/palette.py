"""Colours: the app's themes, and what stands for verdicts and kinds of notes."""

from __future__ import annotations

from textual.theme import Theme

from judge_tui.checks.verdict import SIGNS, Verdict

__all__ = ["KIND_MARKS", "THEMES", "VERDICTS"]

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
        variables={"block-cursor-text-style": "none", "border": "#3b4252", "border-blurred": "#2b303b"},
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
        variables={"block-cursor-text-style": "none", "border": "#c8c8c0", "border-blurred": "#dcdcd4"},
    ),
)

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
