"""Mistakes in a rubric that TOML allows: keys that there are not, keys of the screen, names given twice."""

from __future__ import annotations

from collections.abc import Iterable

from judge_tui.judging.document import Table
from judge_tui.judging.wording import did_you_mean

__all__ = ["TAKEN", "refuse_mistakes"]

#: Keys that the screen itself needs while a rubric is in focus → what they do there. ``h`` and ``l``, which
#: the arrows do as well, may be a dimension's, and so may ``V``, which older rubrics could have.
TAKEN = {
    "n": "goes to the next dimension without a score",
    "w": "goes to the next submission",
    "j": "moves down",
    "k": "moves up",
    "O": "goes to the overall score",
    "S": "goes to the summary",
    "u": "undoes",
    "q": "leaves",
    "?": "opens the help",
    "+": "adds a point",
    "=": "adds a point",
    "-": "takes a point away",
    ".": "would be the point in a score",
    ",": "would be the point in a score",
}

_KEYS = {
    "rubric": ("task", "title", "version", "dimension", "cap", "grade"),
    "dimension": ("id", "title", "key", "weight", "description", "levels", "checks"),
    "cap": ("if", "dimension", "max", "reason"),
    "grade": ("letter", "min"),
}
_LETTERS = "abcdefghilmoprstvxyz"


def refuse_mistakes(document: Table) -> None:
    """Refuse what a rubric's author cannot have meant.

    Raises:
        WorkspaceError: With the line, and the name that was meant as far as it can be told.
    """
    _refuse_unknown(document, "rubric")
    for kind in ("dimension", "cap", "grade"):
        for table in document.tables(kind):
            _refuse_unknown(table, kind)
    dimensions = document.tables("dimension")
    for table in dimensions:
        _refuse_key(table, dimensions)
        _refuse_id(table)
    for kind, what in (("dimension", "id"), ("dimension", "key"), ("grade", "letter"), ("grade", "min")):
        _refuse_twice(document.tables(kind), kind, what)


def _refuse_unknown(table: Table, kind: str) -> None:
    for key in table.extra(*_KEYS[kind]):
        raise table.fault(f"a {kind} has no key '{key}'", key, hint=did_you_mean(key, _KEYS[kind]))


def _refuse_key(table: Table, dimensions: Iterable[Table]) -> None:
    key = table.string("key", "")
    if key and (len(key) > 1 or not key.isprintable() or key.isspace() or key.isdigit()):
        raise table.fault(f"a key is one letter or sign, and no digit, which scores; not '{key}'", "key")
    if key in TAKEN:
        used = {other.raw.get("key") for other in dimensions}
        free = " ".join(letter for letter in _LETTERS if letter not in used)
        raise table.fault(f"the key '{key}' is taken: it {TAKEN[key]}", "key", hint=f"Free are: {free}.")


def _refuse_id(table: Table) -> None:
    name = table.string("id")
    if not name.strip():
        raise table.fault("'id' must not be empty", "id")
    if name == "overall":
        raise table.fault("'overall' is the judge's own total, and no dimension", "id")


def _refuse_twice(tables: Iterable[Table], kind: str, what: str) -> None:
    seen: list[object] = []
    for table in tables:
        value = table.raw.get(what)
        if value in seen and value != "":
            raise table.fault(f"two {kind}s have the {what} '{value}'", what)
        seen += [] if value is None else [value]
