"""What to compare next: submissions not judged yet, then what is stale, then pairs without a matchup."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice

from judge_tui.checks.attempts import attempt_of
from judge_tui.judging.matchup import Matchup
from judge_tui.judging.standing import Standing

__all__ = ["REASONS", "Pair", "partner", "queue"]

#: Why a pair is due, the most urgent first.
REASONS = ("not scored", "stale", "matchup stale", "no matchup")
#: Pairs without a matchup that are listed per task; there may be thousands.
_MOST = 50
#: So many submissions stand side by side.
_BESIDE = 3

#: The matchups that a judge has decided on a task.
Decided = Collection[Matchup]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two submissions of one task that are to be judged, or the three of a matchup that is stale.

    Attributes:
        task: Task id.
        models: Folder names, sorted.
        reason: One of :data:`REASONS`.
        due: Those that the reason holds for; a pair is the same whatever is open of it.
        begun: Whether the judge has begun to score one of them.
    """

    task: str
    models: tuple[str, ...]
    reason: str
    due: tuple[str, ...] = field(default=(), compare=False)
    begun: bool = field(default=False, compare=False)


def queue(standings: Iterable[Standing], decided: Mapping[str, Decided]) -> tuple[Pair, ...]:
    """The pairs that are due, the most urgent first.

    What is not judged goes two by two, so that each submission is met once; what has been begun goes
    before what has not. Pairs without a matchup go by nearness of their points, where a matchup tells most.

    Args:
        standings: All cells that are known, in the order of the rows.
        decided: Task → the decided matchups; a task that is absent asks for no matchups.
    """
    by_task: dict[str, list[Standing]] = {}
    answers: set[tuple[str, str, str]] = set()
    for cell in standings:
        answer = attempt_of(cell.model)[0], cell.task, cell.digest
        # of the same answers of a model one is judged
        again = bool(cell.digest) and answer in answers and not (cell.judged or cell.begun)
        answers.add(answer)
        if cell.files and not cell.fault and not again:
            by_task.setdefault(cell.task, []).append(cell)
    tasks = {task: cells for task, cells in sorted(by_task.items()) if len(cells) > 1}
    due = [list(_due(tasks[task], decided.get(task))) for task in tasks]
    return tuple(pair for reason in REASONS for pairs in due for pair in pairs if pair.reason == reason)


def _due(cells: Sequence[Standing], decided: Decided | None) -> Iterator[Pair]:
    # a card of a newer schema takes no score here
    ours = [cell for cell in cells if not cell.newer]
    yet = sorted((cell for cell in ours if not cell.judged), key=lambda cell: not cell.begun)
    yield from _two_by_two(yet, cells, REASONS[0])
    stale = [cell for cell in ours if cell.judged and cell.stale]
    yield from _two_by_two(stale, [cell for cell in cells if cell.judged], REASONS[1])
    if decided is not None:
        known = [cell for cell in cells if cell.judged and not cell.stale]
        digests = {cell.model: cell.digest for cell in known}
        for matchup in decided:
            # one of more, which a published analysis may have, cannot be opened
            shown = len(matchup.models) <= _BESIDE and set(matchup.models) <= set(digests)
            if shown and matchup.stale(digests):
                models = tuple(sorted(matchup.models))
                yield Pair(known[0].task, models, REASONS[2], models)
        yield from islice(_undecided(known, decided), _MOST)


def _two_by_two(due: Sequence[Standing], all_: Sequence[Standing], reason: str) -> Iterator[Pair]:
    for first, second in zip(due[::2], due[1::2], strict=False):
        yield _pair(first, second, reason, (first, second))
    if len(due) % 2:
        # the odd one out is read beside one that is known
        last, met = due[-1], {cell.model for cell in due}
        others = [cell for cell in all_ if cell.model not in met] or [c for c in all_ if c is not last]
        if others:
            beside = others[0]
            yield _pair(last, beside, reason, (last, beside) if beside in due else (last,))


def _undecided(cells: Sequence[Standing], decided: Decided) -> Iterator[Pair]:
    ranked = sorted(cells, key=lambda cell: (-(cell.points if cell.points is not None else -1), cell.model))
    covered = {frozenset(pair) for matchup in decided for pair in combinations(matchup.models, 2)}
    for distance in range(1, len(ranked)):
        for first, second in zip(ranked, ranked[distance:], strict=False):
            # one model's attempts against each other rate nobody
            own = attempt_of(first.model)[0] == attempt_of(second.model)[0]
            if not own and frozenset((first.model, second.model)) not in covered:
                yield _pair(first, second, REASONS[3], (first, second))


def _pair(first: Standing, second: Standing, reason: str, due: Sequence[Standing]) -> Pair:
    one, other = sorted((first.model, second.model))
    models = tuple(sorted(cell.model for cell in due))
    return Pair(first.task, (one, other), reason, models, any(cell.begun for cell in due))


def partner(model: str, task: str, pairs: Iterable[Pair], submitted: Sequence[str]) -> str | None:
    """The submission that one is best compared with next; ``None`` when it is the only one.

    Args:
        model: Folder name of the one.
        task: Task id.
        pairs: The queue.
        submitted: Models with a submission for the task, in the order of the rows.
    """
    for pair in pairs:
        if pair.task == task and model in pair.models:
            return next(other for other in pair.models if other != model)
    others = [other for other in submitted if other != model]
    at = submitted.index(model) if model in submitted else 0
    return others[min(at, len(others) - 1)] if others else None
