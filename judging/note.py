"""Notes: what a judge saw, anchored to lines of a submission and kept by quote."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, get_args
from typing import Literal as _Literal

from msgspec import Struct, field
from msgspec.structs import replace

from judge_tui.checks.lines import split_lines
from judge_tui.judging.context import Context, parse_context, render_context
from judge_tui.judging.document import Table, storable
from judge_tui.judging.followed import Followed, parse_followed, render_followed
from judge_tui.judging.quoted import LONG, Anchor

__all__ = [
    "KINDS",
    "SEVERITIES",
    "Kind",
    "Note",
    "Severity",
    "new_note",
    "parse_notes",
    "quote_of",
    "render_note",
]

Kind = _Literal["strength", "weakness", "bug", "question"]
Severity = _Literal["minor", "major", "critical"]

KINDS: tuple[Kind, ...] = get_args(Kind)
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

#: A quote holds this many lines at most; a longer range keeps its length.
_QUOTED_LINES = 12
_KNOWN = ("id", "kind", "severity", "text", "file", "lines", "quote")
_KEYS = frozenset((*_KNOWN, "context", "followed"))


class Note(Struct, frozen=True):
    """One remark of a judge.

    Attributes:
        kind: ``strength``, ``weakness``, ``bug`` or ``question``.
        text: What the judge says.
        severity: ``minor``, ``major`` or ``critical``.
        file: File of the submission, relative; ``None`` for a remark on the whole.
        lines: First and last line, 1-based; ``None`` for a remark on the file.
        quote: Text of those lines when their place was last certain.
        context: What stood around them then; ``None`` where that was not written down.
        id: Names the note while it is edited.
        followed: Where those lines went, where others stand in their place by now.
        extra: Keys of the file that this version does not know.
    """

    kind: Kind
    text: str
    severity: Severity = "minor"
    file: str | None = None
    lines: tuple[int, int] | None = None
    quote: str = ""
    id: str = ""
    context: Context | None = None
    followed: Followed | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        # tables have no hash; what differs in them alone is told apart by equality
        return hash((self.id, self.text, self.file, self.lines))

    @property
    def weight(self) -> str:
        """The severity, where it means something: none of a strength, whose own is kept and not shown."""
        return "" if self.kind == "strength" else self.severity

    @property
    def where(self) -> str:
        """File and lines, as ``kv_cache.py:3–5``; empty for a remark on the whole."""
        if self.file is None or self.lines is None:
            return self.file or ""
        first, last = self.lines
        return f"{self.file}:{first}" if first == last else f"{self.file}:{first}–{last}"

    @property
    def anchor(self) -> Anchor | None:
        """What is known of its lines; ``None`` where it has none, or quotes nothing."""
        if self.lines is None or not (self.quote or self.context):
            return None
        first, last = self.lines
        return Anchor((first - 1, last - 1), tuple(self.quote.split("\n")), self.context)

    @property
    def unanchored(self) -> Note:
        """What it says, wherever that is: two that differ in their anchors alone are one remark."""
        return replace(self, lines=None, quote="", context=None, file=None, followed=None)

    @property
    def as_followed(self) -> Note | None:
        """The note on the lines that its own have become; ``None`` where it was followed to none."""
        last = self.followed
        if last is None:
            return None
        return replace(
            self, file=last.file, lines=last.lines, quote=last.quote, context=last.context, followed=None
        )

    def placed_as(self, other: Note) -> Note:
        """What it says, at the place of another one, with all that is known of that."""
        return replace(
            self,
            file=other.file,
            lines=other.lines,
            quote=other.quote,
            context=other.context,
            followed=other.followed,
        )


def new_note(
    kind: Kind,
    text: str,
    *,
    severity: Severity = "minor",
    file: str | None = None,
    lines: tuple[int, int] | None = None,
    source: str | Sequence[str] | None = None,
) -> Note:
    """A note with an id of its own.

    Args:
        kind: Kind of remark.
        text: The remark.
        severity: How much it matters.
        file: File of the submission.
        lines: First and last line, 1-based, in any order.
        source: Text of the file, or its lines, to quote from.
    """
    import secrets

    if lines is not None:
        lines = (min(lines), max(lines))
    quote = quote_of(source, lines) if source is not None and lines is not None else ""
    return Note(kind, storable(text), severity, file, lines, quote, secrets.token_hex(4))


def quote_of(source: str | Sequence[str], lines: tuple[int, int]) -> str:
    """The first lines of a 1-based range of a text (or of its lines), as a note quotes them."""
    split = split_lines(source) if isinstance(source, str) else source
    quoted = split[lines[0] - 1 : min(lines[1], lines[0] - 1 + _QUOTED_LINES)]
    return "\n".join(line[:LONG] for line in quoted)


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
        notes.append(note if note.id == name else replace(note, id=name))
    return tuple(notes)


def _parse(table: Table) -> Note:
    raw = table.raw
    texts: tuple[Any, ...] = (raw.get("text"), raw.get("file", ""), raw.get("quote", ""), raw.get("id", ""))
    kind: Any = raw.get("kind")
    severity, lines = raw.get("severity", "minor"), raw.get("lines")
    usual = all(type(text) is str for text in texts) and kind in KINDS and severity in SEVERITIES
    if usual and _KEYS.issuperset(raw) and (lines is None or _are_lines(lines)):
        # as nearly all of many thousands are: looked at once, and no line is asked for
        context, followed = parse_context(raw.get("context")), parse_followed(raw.get("followed"))
        if (context is not None or "context" not in raw) and (followed is not None or "followed" not in raw):
            span = None if lines is None else (min(lines), max(lines))
            return Note(
                kind, texts[0], severity, raw.get("file"), span, texts[2], texts[3], context, followed
            )
    return _looked_at(table)


def _looked_at(table: Table) -> Note:
    kind, severity = table.string("kind"), table.string("severity", "minor")
    if kind not in KINDS:
        raise table.fault(f"'kind' must be one of {', '.join(KINDS)}, not '{kind}'", "kind")
    if severity not in SEVERITIES:
        raise table.fault(f"'severity' must be one of {', '.join(SEVERITIES)}, not '{severity}'", "severity")
    context, followed = parse_context(table.raw.get("context")), parse_followed(table.raw.get("followed"))
    understood = [name for name, value in (("context", context), ("followed", followed)) if value is not None]
    return Note(
        kind=kind,
        text=table.string("text"),
        severity=severity,
        file=table.optional_string("file"),
        lines=_lines(table),
        quote=table.string("quote", ""),
        id=table.string("id", ""),
        context=context,
        followed=followed,
        # what is no context that is known is somebody's all the same
        extra=table.extra(*_KNOWN, *understood),
    )


def _are_lines(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(n) is int and n >= 1 for n in value)


def _lines(table: Table) -> tuple[int, int] | None:
    value = table.raw.get("lines")
    if value is None:
        return None
    if not _are_lines(value):
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
    if note.context is not None:
        raw["context"] = render_context(note.context)
    if note.followed is not None:
        raw["followed"] = render_followed(note.followed)
    return raw | dict(note.extra)


def _derived_id(note: Note) -> str:
    content = "\0".join((note.kind, note.text, note.file or "", str(note.lines)))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8]
