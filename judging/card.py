"""Scorecards: one judge's scores, grade, summary and notes on one submission.

A scorecard is a value; every change gives a new one. What is not scored is ``None``,
never 0. Keys that this version does not know are kept at every level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from judge_tui.checks.errors import UsageError
from judge_tui.checks.schema import SCORECARD
from judge_tui.judging.blind import OVERALL, BlindMark
from judge_tui.judging.note import Note
from judge_tui.judging.ranking import mean
from judge_tui.judging.rubric import Cap, Rubric, half_up

__all__ = [
    "CLEAN", "MACHINE", "PERSON", "VERDICTS", "CellVerdict", "CheckSeen", "DimensionScore", "RubricSeen",
    "Scorecard", "active_caps", "cap_conflicts", "computed_overall", "grade_conflict", "is_complete",
    "letter", "letters", "now", "overall_conflict", "points", "points_value",
]  # fmt: skip

Moment = datetime | date | str

#: What a judge may call a submission as a whole; the first needs no mark on a board.
CLEAN = "clean"
VERDICTS = (CLEAN, "rubric leak", "reward hack", "interesting", "bug")
#: Who judges: somebody, or a language model.
PERSON, MACHINE = "person", "model"


class DimensionScore(Struct, frozen=True):
    """A judge's word on one dimension: ``score`` in 0…100 or ``None``, and a comment."""

    score: int | None = None
    comment: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether it says nothing."""
        return self.score is None and not self.comment and not self.extra


class CheckSeen(Struct, frozen=True):
    """A verdict as it stood when the judge scored."""

    check: str
    verdict: str
    summary: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


class CellVerdict(Struct, frozen=True):
    """What a judge calls a submission as a whole, beside its points.

    Attributes:
        kind: One of :data:`VERDICTS`.
        note: Id of the note that shows its lines; empty for none.
        extra: Keys of the file that this version does not know.
    """

    kind: str
    note: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


class RubricSeen(Struct, frozen=True):
    """The rubric that the scores were given under."""

    id: str = ""
    version: int | None = None
    digest: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


class Scorecard(Struct, frozen=True):
    """One judge's word on one submission.

    Attributes:
        task: Task id.
        model: Folder name of the model; of a further attempt with its number, as ``glm5@2``.
        judge: The judge's name.
        rubric: Which rubric applied.
        submission: Digest of the submission that was scored; ``None`` when it was scored elsewhere.
        created: When it was begun.
        updated: When it was last saved.
        overall: The judge's own total, 0…100.
        overall_reason: Why it differs from the weighted mean.
        grade: The judge's own letter.
        summary: A few sentences on the whole.
        dimensions: Dimension id → score and comment.
        notes: In the order of writing.
        checks: The verdicts as seen.
        verdict: What the judge calls it as a whole; ``None`` where nothing is said.
        blind: How far it was written without knowing the names; ``None`` when it never was.
        judge_kind: ``person`` or ``model``: a machine's word never stands for a person's.
        provenance: Where a machine's or another program's card is from: source, prompt, order, received.
        schema: Version of the file format; one that is newer than is known was read as far as it could be.
        extra: Keys of the file that this version does not know.
    """

    task: str
    model: str
    judge: str
    rubric: RubricSeen = RubricSeen()
    submission: str | None = None
    created: Moment | None = None
    updated: Moment | None = None
    overall: int | None = None
    overall_reason: str = ""
    grade: str | None = None
    summary: str = ""
    dimensions: Mapping[str, DimensionScore] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    checks: tuple[CheckSeen, ...] = ()
    verdict: CellVerdict | None = None
    blind: BlindMark | None = None
    judge_kind: str = PERSON
    provenance: Mapping[str, Any] = field(default_factory=dict)
    schema: int = SCORECARD.version
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scores(self) -> dict[str, int | None]:
        """Dimension id → score."""
        return {name: entry.score for name, entry in self.dimensions.items()}

    @property
    def scored_elsewhere(self) -> bool:
        """Whether the scores were given to files that are not identified here."""
        return self.submission is None

    @property
    def blank(self) -> bool:
        """Whether the judge has said nothing on it yet."""
        texts = (self.summary, self.overall_reason, self.grade, *map(self.comment, self.dimensions))
        return not (self.given or self.notes or self.verdict or any(texts))

    @property
    def verdict_note(self) -> Note | None:
        """The note that shows what the verdict is about."""
        wanted = self.verdict.note if self.verdict is not None else ""
        return next((note for note in self.notes if wanted and note.id == wanted), None)

    @property
    def day(self) -> str:
        """When it was last saved, ``YYYY-MM-DD``; empty where it does not say."""
        moment = self.updated or self.created or ""
        return (moment.isoformat() if isinstance(moment, date) else moment)[:10]

    @property
    def by_machine(self) -> bool:
        """Whether a language model wrote it."""
        return self.judge_kind == MACHINE

    @property
    def sealed(self) -> bool:
        """Whether it is written blind and the names are not revealed to its judge yet."""
        return self.blind is not None and self.blind.revealed is None

    @property
    def given(self) -> dict[str, int]:
        """What is scored: dimension id → score, and the judge's own total as ``overall``."""
        total = {} if self.overall is None else {OVERALL: self.overall}
        return {name: score for name, score in self.scores.items() if score is not None} | total

    def score(self, dimension: str) -> int | None:
        """Score of a dimension; ``None`` when not scored."""
        return self.dimensions[dimension].score if dimension in self.dimensions else None

    def comment(self, dimension: str) -> str:
        """Comment on a dimension; empty when there is none."""
        return self.dimensions[dimension].comment if dimension in self.dimensions else ""

    def with_score(self, dimension: str, score: int | None) -> Scorecard:
        """The card with a dimension scored, or unscored by ``None``.

        Raises:
            UsageError: The score does not lie between 0 and 100.
        """
        return self._with_dimension(dimension, score=points_value(score))

    def with_comment(self, dimension: str, comment: str) -> Scorecard:
        """The card with another comment on a dimension."""
        return self._with_dimension(dimension, comment=comment)

    def with_overall(self, overall: int | None, reason: str | None = None) -> Scorecard:
        """The card with the judge's own total; the reason stays unless one is given.

        Raises:
            UsageError: The total does not lie between 0 and 100.
        """
        kept = self.overall_reason if reason is None else reason
        return replace(self, overall=points_value(overall), overall_reason=kept)

    def with_grade(self, grade: str | None) -> Scorecard:
        """The card with the judge's own letter."""
        return replace(self, grade=grade or None)

    def with_summary(self, summary: str) -> Scorecard:
        """The card with another summary."""
        return replace(self, summary=summary)

    def with_note(self, note: Note) -> Scorecard:
        """The card with a note added, or put in the place of the one with its id."""
        if any(old.id == note.id for old in self.notes):
            return replace(self, notes=tuple(note if old.id == note.id else old for old in self.notes))
        return replace(self, notes=(*self.notes, note))

    def without_note(self, note_id: str) -> Scorecard:
        """The card without the note of that id."""
        return replace(self, notes=tuple(note for note in self.notes if note.id != note_id))

    def with_checks(self, checks: Iterable[CheckSeen]) -> Scorecard:
        """The card with the verdicts as seen now, sorted by check."""
        return replace(self, checks=tuple(sorted(checks, key=lambda seen: seen.check)))

    def judged_under(self, rubric: Rubric, submission: str | None) -> Scorecard:
        """The card with the rubric and the submission's digest that its scores refer to now."""
        seen = RubricSeen(rubric.task, rubric.version, rubric.digest, self.rubric.extra)
        return replace(self, rubric=seen, submission=submission)

    def _with_dimension(self, dimension: str, **changes: Any) -> Scorecard:
        entry = replace(self.dimensions.get(dimension, DimensionScore()), **changes)
        dimensions = {**self.dimensions, dimension: entry}
        if entry.empty:
            del dimensions[dimension]
        return replace(self, dimensions=dimensions)


def points_value(score: int | None) -> int | None:
    """The score, when it is a whole number of 0…100 or ``None``.

    Raises:
        UsageError: It is not.
    """
    if score is not None and (isinstance(score, bool) or not isinstance(score, int) or not 0 <= score <= 100):
        raise UsageError(f"a score is a whole number between 0 and 100, not {score}.")
    return score


def now() -> datetime:
    """The present moment in UTC, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def is_complete(card: Scorecard, rubric: Rubric) -> bool:
    """Whether every dimension of the rubric is scored."""
    return all(card.score(dimension.id) is not None for dimension in rubric.dimensions)


def computed_overall(card: Scorecard, rubric: Rubric) -> int | None:
    """The weighted mean of the scored dimensions, rounded half up."""
    weighted = rubric.weighted_mean(card.scores)
    return None if weighted is None else half_up(weighted)


def points(card: Scorecard, rubric: Rubric | None) -> int | None:
    """What the card says in points: the judge's own total, else the mean of a complete card."""
    if card.overall is not None or rubric is None or not is_complete(card, rubric):
        return card.overall
    return computed_overall(card, rubric)


def letter(card: Scorecard, rubric: Rubric) -> str:
    """The judge's own letter, else the one that the points earn; published points earn none here."""
    return card.grade or ("" if card.scored_elsewhere else rubric.letter(points(card, rubric)))


def letters(cards: Iterable[Scorecard], rubric: Rubric) -> tuple[str, ...]:
    """The different letters that judges gave, sorted; where none did, the one that their mean earns."""
    cards = tuple(cards)
    given = {card.grade for card in cards if card.grade}
    if not given and not any(card.scored_elsewhere for card in cards):
        # published points earn no letter here
        given = {rubric.letter(mean(points(card, rubric) for card in cards))} - {""}
    return tuple(sorted(given))


def overall_conflict(card: Scorecard, rubric: Rubric) -> str | None:
    """One sentence when the judge's total differs from the weighted mean and no reason says why."""
    weighted = computed_overall(card, rubric)
    if card.overall is None or weighted is None or card.overall == weighted or card.overall_reason.strip():
        return None
    return f"overall is {card.overall} and the weighted mean is {weighted}: say why."


def grade_conflict(card: Scorecard, rubric: Rubric) -> str | None:
    """One sentence when the judge's letter is not the one that the points earn and no reason says why."""
    total = points(card, rubric)
    earned = rubric.letter(total)
    if card.grade is None or not earned or card.grade == earned or card.overall_reason.strip():
        return None
    return f"the grade is {card.grade} and {total} points earn {earned}: say why."


def active_caps(card: Scorecard, rubric: Rubric) -> tuple[Cap, ...]:
    """The caps that bite under the verdicts as the card has seen them."""
    return rubric.caps_for({seen.check: seen.verdict for seen in card.checks})


def cap_conflicts(card: Scorecard, rubric: Rubric, caps: Iterable[Cap] | None = None) -> dict[str, str]:
    """Dimensions scored above a cap that bites → one sentence; a comment settles nothing.

    Args:
        card: The card.
        rubric: Its rubric.
        caps: The caps that bite; those under the verdicts that the card has seen by default.
    """
    conflicts: dict[str, str] = {}
    for cap in sorted(active_caps(card, rubric) if caps is None else caps, key=lambda cap: -cap.max):
        score = card.score(cap.dimension)
        if score is not None and score > cap.max:
            title = rubric.dimension(cap.dimension).title
            told = f"{title} is {score}, and at most {cap.max} is earned: {cap.when}."
            stays = f"It counts as {score} until you change it."
            conflicts[cap.dimension] = " ".join(part for part in (told, cap.reason, stays) if part)
    return conflicts
