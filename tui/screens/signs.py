"""What the parts of a comparison show instead of words, as the help tells it."""

from __future__ import annotations

from judge_tui.tui.look.palette import VERDICTS
from judge_tui.tui.widgets.code_lines import BOOKMARK, DOUBT, LOST

__all__ = ["CHECK_SIGNS", "CODE_SIGNS", "RUBRIC_SIGNS"]

Signs = tuple[tuple[str, str], ...]

_MEANINGS = {
    "pass": "holds",
    "fail": "the contract is broken",
    "warn": "allowed, and worth a look",
    "skip": "not tried, for the reason that it gives",
    "unbound": "nothing was found to call",
    "ambiguous": "the contract can be read in two ways",
    "error": "a fault of the engine: nothing about the code",
}

CHECK_SIGNS: Signs = (
    *((f"{glyph} {name}", _MEANINGS[name]) for name, (glyph, _tone) in VERDICTS.items()),
    ("≠ ~", "the submissions differ: in their verdicts, or by figures alone"),
    ("▸", "the submission whose evidence opens"),
)
CODE_SIGNS: Signs = (
    ("◆", "where a check found its cause"),
    ("+ − ✗ ?", "a note: strength, weakness, bug, question; a finding of the same line stands behind it"),
    (LOST, "a note whose lines have changed: what it quotes stands nowhere in the file"),
    (DOUBT, "a note that may be in several places: it asks where"),
    (BOOKMARK, "a bookmark"),
    ("▸", "lines that are folded away"),
)
RUBRIC_SIGNS: Signs = (
    ("85✎", "a score with a comment"),
    ("!85", "a score that does not fit: above a cap, or a total that is not the mean"),
    ("–", "no score yet"),
)
