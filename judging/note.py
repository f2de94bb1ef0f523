"""Notes: what a judge saw, anchored to lines of a submission and kept by quote."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, get_args
from typing import Literal as _Literal

from judge_tui.checks.lines import split_lines
from judge_tui.judging.document import Table, storable

__all__ = [
    "KINDS",
    "SEVERITIES",
    "Kind",
    "Note",
    "Severity",
    "is_anchored",
    "new_note",
    "parse_notes",
    "placed",
    "quote_of",
    "reanchor",
    "render_note",
]

Kind = _Literal["strength", "weakness", "bug", "question"]
Severity = _Literal["minor", "major", "critical"]

KINDS: tuple[Kind, ...] = get_args(Kind)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

#: A quote holds this many lines at most; a longer range keeps its length.
_QUOTED_LINES = 12
#: A longer line is quoted by its beginning: a scorecard is no place for a line of megabytes.
_QUOTED_CHARACTERS = 1_000
_KNOWN = ("id", "kind", "severity", "text", "file", "lines", "quote")


@dataclass(frozen=True, slots=True)
class Note:
    """One remark of a judge.

    Attributes:
        kind: ``strength``, ``weakness``, ``bug`` or ``question``.
        text: What the judge says.
        severity: ``minor``, ``major`` or ``critical``.
        file: File of the submission, relative; ``None`` for a remark on the whole.
        lines: First and last line, 1-based; ``None`` for a remark on the file.
        quote: Text of those lines when the note was written.
        id: Names the note while it is edited.
        extra: Keys of the file that this version does not know.
    """

    kind: Kind
    text: str
    severity: Severity = "minor"
    file: str | None = None
    lines: tuple[int, int] | None = None
    quote: str = ""
    id: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def where(self) -> str:
        """File and lines, as ``kv_cache.py:3–5``; empty for a remark on the whole."""
        if self.file is None or self.lines is None:
            return self.file or ""
        first, last = self.lines
        return f"{self.file}:{first}" if first == last else f"{self.file}:{first}–{last}"


def new_note(
    kind: Kind,
    text: str,
    *,
    severity: Severity = "minor",
    file: str | None = None,
    lines: tuple[int, int] | None = None,
    source: str | None = None,
) -> Note:
    """A note with an id of its own.

    Args:
        kind: Kind of remark.
        text: The remark.
        severity: How much it matters.
        file: File of the submission.
        lines: First and last line, 1-based, in any order.
        source: Text of the file, to quote the lines from.
    """
    import secrets

    if lines is not None:
        lines = (min(lines), max(lines))
    quote = quote_of(source, lines) if source is not None and lines is not None else ""
    return Note(kind, storable(text), severity, file, lines, quote, secrets.token_hex(4))


def quote_of(source: str, lines: tuple[int, int]) -> str:
    """The first lines of a 1-based range of a text, as a note quotes them."""
    quoted = _split(source)[lines[0] - 1 : min(lines[1], lines[0] - 1 + _QUOTED_LINES)]
    return "\n".join(line[:_QUOTED_CHARACTERS] for line in quoted)


def is_anchored(note: Note, source: str) -> bool:
    """Whether the quoted lines stand where the note says (a note without quote always does)."""
    return (
        not note.quote
        or note.lines is None
        or _stands_at(_split(source), note.lines[0] - 1, _split(note.quote))
    )


def reanchor(note: Note, source: str) -> Note:
    """The note with its lines moved to where the quote now stands.

    The nearest occurrence wins; indentation may have changed. A note whose quote is
    gone keeps its lines (see :func:`is_anchored`).

    Args:
        note: The note.
        source: Present text of its file.
    """
    if is_anchored(note, source) or note.lines is None:
        return note
    lines, quoted = _split(source), _split(note.quote)
    found = [at for at in _candidates(source, quoted) if _stands_at(lines, at, quoted)]
    if not found or not note.quote.strip():
        return note
    first = min(found, key=lambda at: (abs(at + 1 - note.lines[0]), at)) + 1  # type: ignore[index]
    return replace(note, lines=(first, first + note.lines[1] - note.lines[0]))


def placed(note: Note, source: str) -> tuple[Note, bool]:
    """The note where its quote now stands (see :func:`reanchor`), and whether that is anywhere."""
    found = reanchor(note, source)
    return found, is_anchored(found, source)


def _candidates(source: str, quoted: Sequence[str]) -> Iterable[int]:
    """Where a quote may begin: its rarest line tells, where one is quoted as a whole."""
    said = _said_at(source)
    places = [(n, said.get(q.strip(), ())) for n, q in enumerate(quoted) if len(q) < _QUOTED_CHARACTERS]
    if not places:
        return range(len(_split(source)))
    offset, rarest = min(places, key=lambda place: len(place[1]))
    return [at - offset for at in rarest]


@lru_cache(maxsize=8)
def _said_at(source: str) -> dict[str, list[int]]:
    """What lines say → where they stand, from 0 on."""
    said: dict[str, list[int]] = {}
    for at, line in enumerate(_split(source)):
        said.setdefault(line.strip(), []).append(at)
    return said


def _stands_at(lines: Sequence[str], at: int, quoted: Sequence[str]) -> bool:
    here = lines[at : at + len(quoted)] if at >= 0 else ()
    return len(here) == len(quoted) and all(_said(a, b) for a, b in zip(here, quoted, strict=True))


def _said(line: str, quoted: str) -> bool:
    """Whether a line is the quoted one, however it is indented now."""
    if len(quoted) < _QUOTED_CHARACTERS:
        return line.strip() == quoted.strip()
    return line.lstrip().startswith(quoted.strip())


@lru_cache(maxsize=32)
def _split(text: str) -> Sequence[str]:
    return split_lines(text)


def parse_notes(tables: Sequence[Table]) -> tuple[Note, ...]:
    """Read the ``[[notes]]`` of a scorecard; ids are told apart.

    Raises:
        WorkspaceError: A value has the wrong type or is none of the allowed words.
    """
    notes: list[Note] = []
    taken: set[str] = set()
    for table in tables:
        note = _parse(table)
        wanted = name = note.id or _derived_id(note)
        again = 1
        while name in taken:
            again += 1
            name = f"{wanted}-{again}"
        taken.add(name)
        notes.append(replace(note, id=name))
    return tuple(notes)


def _parse(table: Table) -> Note:
    kind, severity = table.string("kind"), table.string("severity", "minor")
    if kind not in KINDS:
        raise table.fault(f"'kind' must be one of {', '.join(KINDS)}, not '{kind}'", "kind")
    if severity not in SEVERITIES:
        raise table.fault(f"'severity' must be one of {', '.join(SEVERITIES)}, not '{severity}'", "severity")
    return Note(
        kind=kind,
        text=table.string("text"),
        severity=severity,
        file=table.optional_string("file"),
        lines=_lines(table),
        quote=table.string("quote", ""),
        id=table.string("id", ""),
        extra=table.extra(*_KNOWN),
    )


def _lines(table: Table) -> tuple[int, int] | None:
    value = table.raw.get("lines")
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2 or not all(type(n) is int and n >= 1 for n in value):
        raise table.fault("'lines' must be the first and the last line, as [10, 20]", "lines")
    return min(value), max(value)


def render_note(note: Note) -> dict[str, Any]:
    """The note as a table; what is empty is left out, and so is an id that follows from the rest."""
    raw: dict[str, Any] = {"id": note.id} if note.id and note.id != _derived_id(note) else {}
    raw |= {"kind": note.kind, "severity": note.severity, "text": storable(note.text)}
    if note.file is not None:
        raw["file"] = storable(note.file)
    if note.lines is not None:
        raw["lines"] = list(note.lines)
    if note.quote:
        raw["quote"] = storable(note.quote)
    return raw | dict(note.extra)


def _derived_id(note: Note) -> str:
    content = "\0".join((note.kind, note.text, note.file or "", str(note.lines)))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8]
