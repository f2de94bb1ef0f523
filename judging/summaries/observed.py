"""What the figures of a report are computed from: points, scores, seats and sizes, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.lines import split_lines
from judge_tui.checks.submission import Submission
from judge_tui.judging.blind import OVERALL
from judge_tui.judging.card import Scorecard, points
from judge_tui.judging.matchup import Matchup
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.summaries.gathered import Gathered, Judged, OfTask

__all__ = [
    "Apart",
    "Seated",
    "dimension_scores",
    "lines_of",
    "points_by_sheet",
    "seated",
    "seats_of",
    "widest",
]


@dataclass(frozen=True, slots=True)
class Apart:
    """Two judges' scores of one submission on one dimension.

    Attributes:
        task: Task id.
        model: Folder name.
        dimension: Title.
        judges: The lower score's and the higher score's.
        scores: Theirs.
        comments: Theirs.
        stale: Of each whether it was given to other files than those that are there now.
    """

    task: str
    model: str
    dimension: str
    judges: tuple[str, str]
    scores: tuple[int, int]
    comments: tuple[str, str]
    stale: tuple[bool, bool] = (False, False)


@dataclass(frozen=True, slots=True)
class Seated:
    """A blind draw whose names are revealed.

    Attributes:
        task: Task id.
        judge: The judge's name.
        seats: Model → place from the left, from 0.
        points: Model → points that it had when the names were revealed; without those that had none.
    """

    task: str
    judge: str
    seats: Mapping[str, int]
    points: Mapping[str, float]

    @property
    def ahead(self) -> float | None:
        """Points of the leftmost less those of the rightmost; ``None`` where one had none."""
        left, *_, right = sorted(self.seats, key=lambda model: self.seats[model])
        both = left in self.points and right in self.points
        return self.points[left] - self.points[right] if both else None


def points_by_sheet(found: Gathered) -> dict[tuple[str, str], dict[str, float]]:
    """Task, judge → model → points."""
    made: dict[tuple[str, str], dict[str, float]] = {}
    for task, of in found.tasks.items():
        for card in _cards(of):
            if (given := points(card, of.rubric)) is not None:
                made.setdefault((task, card.judge), {})[card.model] = given
    return made


def dimension_scores(found: Gathered) -> dict[str, dict[tuple[str, str], dict[str, float]]]:
    """Title of a dimension → task, model → judge → score; a dimension that several tasks have is one."""
    titles: dict[str, str] = {}
    made: dict[str, dict[tuple[str, str], dict[str, float]]] = {}
    for task, of in found.tasks.items():
        for dimension in of.rubric.dimensions:
            title = titles.setdefault(dimension.id, dimension.title)
            for card in _cards(of):
                if (score := card.score(dimension.id)) is not None:
                    made.setdefault(title, {}).setdefault((task, card.model), {})[card.judge] = score
    return made


def widest(found: Gathered, most: int = 5) -> list[Apart]:
    """The cells in which two judges are furthest apart, the widest first; none where all agree."""
    made = [
        cell
        for task, of in found.tasks.items()
        for model, judged in of.judged.items()
        for dimension in of.rubric.dimensions
        if (cell := _apart(task, model, dimension.id, dimension.title, judged)) is not None
    ]
    made.sort(key=lambda one: (one.scores[0] - one.scores[1], one.task, one.model, one.dimension))
    return made[:most]


def _apart(task: str, model: str, dimension: str, title: str, judged: Judged) -> Apart | None:
    given = sorted(
        (score, card.judge, card.comment(dimension), judged.outdated(card))
        for card in judged.cards
        if (score := card.score(dimension)) is not None
    )
    if len(given) < 2 or given[0][0] == given[-1][0]:
        return None
    low, high = given[0], given[-1]
    both = ((low[1], high[1]), (low[0], high[0]), (low[2], high[2]), (low[3], high[3]))
    return Apart(task, model, title, *both)


def seated(found: Gathered) -> list[Seated]:
    """The blind draws whose names are revealed, by what their scorecards say.

    Cards that were revealed to a judge at the same moment sat beside each other. Those that held scores from
    before, given under the names, tell nothing of seats.
    """
    made: dict[tuple[str, str, str], list[Scorecard]] = {}
    for task, of in found.tasks.items():
        for card in _cards(of):
            if card.blind is not None and card.blind.revealed is not None and card.blind.side:
                made.setdefault((task, card.judge, str(card.blind.revealed)), []).append(card)
    return [
        Seated(task, judge, _seats(cards), _revealed_points(cards, found.tasks[task].rubric))
        for (task, judge, _), cards in made.items()
        if len(set(_seats(cards).values())) == len(cards) > 1
        if not any(card.blind is not None and card.blind.known for card in cards)
    ]


def _seats(cards: list[Scorecard]) -> dict[str, int]:
    sides = sorted({card.blind.side for card in cards if card.blind is not None})
    return {card.model: sides.index(card.blind.side) for card in cards if card.blind is not None}


def _revealed_points(cards: list[Scorecard], rubric: Rubric) -> dict[str, float]:
    made = {}
    for card in cards:
        then = {} if card.blind is None else card.blind.scores
        if OVERALL in then:
            made[card.model] = float(then[OVERALL])
        elif all(dimension.id in then for dimension in rubric.dimensions):
            mean = rubric.weighted_mean(then)
            made |= {} if mean is None else {card.model: float(mean)}
    return made


def seats_of(task: str, judge: str, matchup: Matchup, draws: list[Seated]) -> Mapping[str, int]:
    """Where the models of a matchup sat; nothing where they did not sit beside each other blind."""
    for draw in draws:
        if (draw.task, draw.judge) == (task, judge) and set(matchup.models) <= set(draw.seats):
            return draw.seats
    return {}


def lines_of(submission: Submission) -> int:
    """Lines of a submission's files that are not blank; 0 where they cannot be read."""
    try:
        return sum(
            1 for name in submission.files for line in split_lines(submission.read_text(name)) if line.strip()
        )
    except JudgeError:
        return 0


def _cards(of: OfTask) -> Iterator[Scorecard]:
    return (card for judged in of.judged.values() for card in judged.cards)
