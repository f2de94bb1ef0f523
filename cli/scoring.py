"""What ``judge-tui score`` does to a scorecard, and how it tells it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from judge_tui.checks.errors import UsageError
from judge_tui.checks.lines import count_lines
from judge_tui.checks.submission import Submission
from judge_tui.cli.card_lines import anchor
from judge_tui.judging.card import (
    VERDICTS,
    CellVerdict,
    Scorecard,
    cap_conflicts,
    computed_overall,
    grade_conflict,
    overall_conflict,
    points_value,
)
from judge_tui.judging.naming import match
from judge_tui.judging.note import KINDS, SEVERITIES, Note, Severity, new_note
from judge_tui.judging.rubric import Rubric

__all__ = ["Changes", "changed", "conflicts", "differences", "parse_note", "standing"]

#: Verdict → kind of the note that shows it, where that is no bug.
_SHOWN_BY = {"clean": "strength", "interesting": "strength"}
_LINES = re.compile(r"(?P<file>[^:]+):(?P<first>\d+)(?:-(?P<last>\d+))?:(?P<text>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes as they stand on the command line; ``None`` leaves a field as it is."""

    scores: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    summary: str | None = None
    overall: str | None = None
    reason: str | None = None
    grade: str | None = None
    verdict: str | None = None

    @classmethod
    def of(
        cls,
        *,
        scores: Iterable[str] = (),
        comments: Iterable[str] = (),
        notes: Iterable[str] = (),
        summary: str | None = None,
        overall: str | None = None,
        reason: str | None = None,
        grade: str | None = None,
        verdict: str | None = None,
    ) -> Changes:
        """The changes that options give."""
        return cls(tuple(scores), tuple(comments), tuple(notes), summary, overall, reason, grade, verdict)


def changed(card: Scorecard, changes: Changes, rubric: Rubric, submission: Submission) -> Scorecard:
    """The card after the changes; all of them, or an error and none.

    Raises:
        UsageError: A dimension is unknown, a number is off, or a note points nowhere.
    """
    for item in changes.scores:
        dimension, value = _assignment(item, rubric, "--set")
        card = card.with_score(dimension, _points(value, item))
    for item in changes.comments:
        dimension, value = _assignment(item, rubric, "--comment")
        card = card.with_comment(dimension, value)
    for item in changes.notes:
        note = parse_note(item, submission)
        if not any(
            (n.kind, n.text, n.file, n.lines) == (note.kind, note.text, note.file, note.lines)
            for n in card.notes
        ):
            card = card.with_note(note)
    if changes.summary is not None:
        card = card.with_summary(changes.summary)
    if changes.overall is not None or changes.reason is not None:
        overall = card.overall if changes.overall is None else _points(changes.overall, "--overall")
        card = card.with_overall(overall, changes.reason)
    if changes.grade is not None:
        card = card.with_grade(_grade(changes.grade, rubric))
    if changes.verdict is not None:
        card = _with_verdict(card, changes.verdict, submission)
    return card


def _with_verdict(card: Scorecard, item: str, submission: Submission) -> Scorecard:
    """The card with ``verdict[:[file[:a-b]:]text]``; what is said of it becomes a note with its lines."""
    head, sign, rest = item.partition(":")
    kind = " ".join(head.strip().casefold().replace("-", " ").replace("_", " ").split())
    if kind in ("none", "") and not sign:
        return replace(card, verdict=None)
    if kind not in VERDICTS:
        raise UsageError(
            f"'{head.strip()}' is no verdict.",
            hint=f"Write one of {', '.join(VERDICTS)}, or none; behind it :FILE:A-B:TEXT if you like.",
        )
    if not rest.strip():
        return replace(card, verdict=CellVerdict(kind))
    note = parse_note(f"{_SHOWN_BY.get(kind, 'bug')}:{rest}", submission)
    return replace(card.with_note(note), verdict=CellVerdict(kind, note.id))


def _assignment(item: str, rubric: Rubric, option: str) -> tuple[str, str]:
    name, sign, value = item.partition("=")
    if not sign:
        raise UsageError(f"{option} takes DIMENSION=VALUE, not '{item}'.")
    titles = {dimension.title: dimension.id for dimension in rubric.dimensions}
    keys = {dimension.key: dimension.id for dimension in rubric.dimensions if dimension.key}
    names = [dimension.id for dimension in rubric.dimensions]
    return match(name.strip(), names, titles | keys, "dimension", whole=True), value.strip()


def _points(value: str, item: str) -> int | None:
    if value.strip().casefold() in ("none", ""):
        return None
    if not re.fullmatch(r"\d{1,4}", value.strip(), re.ASCII):
        raise UsageError(f"a score is a whole number between 0 and 100, or none: '{item}'.")
    return points_value(int(value))


def _grade(value: str, rubric: Rubric) -> str | None:
    if value.casefold() in ("none", ""):
        return None
    letters = [grade.letter for grade in rubric.grades]
    wanted = value.upper()
    if letters and wanted not in letters:
        raise UsageError(f"'{value}' is no grade of this rubric.", hint=f"It has: {', '.join(letters)}.")
    return wanted


def parse_note(item: str, submission: Submission) -> Note:
    """Read ``kind[/severity]:[file[:a-b]:]text``.

    Args:
        item: As on the command line.
        submission: Whose files the note may point at.

    Raises:
        UsageError: The kind or severity is none, the file or lines are not there, or the text is empty.
    """
    head, sign, rest = item.partition(":")
    kind, _, severity = head.strip().casefold().partition("/")
    if not sign or kind not in KINDS or (severity and severity not in SEVERITIES):
        raise UsageError(
            f"cannot read the note '{item}'.",
            hint=f"Write KIND:FILE:A-B:TEXT or KIND:TEXT, with KIND one of {', '.join(KINDS)}, "
                 f"and after a slash {', '.join(SEVERITIES)} if you like.",
        )  # fmt: skip
    file, lines, text = _anchor(rest, submission)
    text = _unquoted(text.strip())
    if not text:
        raise UsageError(f"the note '{item}' has no text.")
    source = submission.read_text(file) if file is not None else None
    weight: Severity = next((s for s in SEVERITIES if s == severity), "minor")
    known = next(k for k in KINDS if k == kind)
    return new_note(known, text, severity=weight, file=file, lines=lines, source=source)


def _anchor(rest: str, submission: Submission) -> tuple[str | None, tuple[int, int] | None, str]:
    found = _LINES.fullmatch(rest)
    if found is None:
        file, sign, text = rest.partition(":")
        return (file, None, text) if sign and file in submission.files else (None, None, rest)
    file, first = found["file"], int(found["first"])
    last = int(found["last"] or first)
    if submission.files and file not in submission.files:
        raise UsageError(
            f"{submission.model} has no file '{file}' for {submission.task}.",
            hint=f"It has: {', '.join(submission.files[:12])}.",
        )
    count = count_lines(submission.read_text(file)) if submission.files else max(first, last)
    if not 1 <= min(first, last) <= max(first, last) <= count:
        raise UsageError(f"{file} has the lines 1 to {count}, not {found['first']}-{last}.")
    return file, (min(first, last), max(first, last)), found["text"]


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" else text


def differences(before: Scorecard, after: Scorecard) -> list[str]:
    """What changed from one card to another, a line each."""
    lines = []
    for name in dict.fromkeys((*before.dimensions, *after.dimensions)):
        if before.score(name) != after.score(name):
            lines.append(f"{name}: {_shown(before.score(name))} → {_shown(after.score(name))}")
        if before.comment(name) != after.comment(name):
            lines.append(f"{name}: comment {_worded(before.comment(name), after.comment(name))}")
    if before.overall != after.overall:
        lines.append(f"overall: {_shown(before.overall)} → {_shown(after.overall)}")
    if before.overall_reason != after.overall_reason:
        lines.append(f"reason {_worded(before.overall_reason, after.overall_reason)}")
    if before.grade != after.grade:
        lines.append(f"grade: {before.grade or '–'} → {after.grade or '–'}")
    if before.verdict != after.verdict:
        shown = [card.verdict.kind if card.verdict else "–" for card in (before, after)]
        lines.append(f"verdict: {' → '.join(shown)}")
    if before.summary != after.summary:
        lines.append(f"summary {_worded(before.summary, after.summary)}")
    known = {note.id for note in before.notes}
    lines += [f"note added: {_note(note)}" for note in after.notes if note.id not in known]
    return lines


def _shown(score: int | None) -> str:
    return "–" if score is None else str(score)


def _worded(before: str, after: str) -> str:
    return "removed" if not after else "changed" if before else "added"


def _note(note: Note) -> str:
    return f"{anchor(note)} {note.text}"


def standing(card: Scorecard, rubric: Rubric) -> list[str]:
    """Where the card stands now: dimensions scored, weighted mean and own total."""
    scored = sum(card.score(dimension.id) is not None for dimension in rubric.dimensions)
    mean = computed_overall(card, rubric)
    said = f"scored {scored} of {len(rubric.dimensions)} dimensions"
    if mean is not None:
        said += f", weighted mean {mean} ({rubric.letter(mean)})"
    if card.overall is not None:
        said += f", overall {card.overall}"
    if card.grade is not None:
        said += f", grade {card.grade}"
    return [said]


def conflicts(card: Scorecard, rubric: Rubric) -> list[str]:
    """What asks for an explanation, a line each."""
    own = [overall_conflict(card, rubric), grade_conflict(card, rubric)]
    told = [*own, *cap_conflicts(card, rubric).values()]
    return [f"note: {sentence}" for sentence in told if sentence]
