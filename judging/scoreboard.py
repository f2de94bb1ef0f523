"""The scoreboard: models × tasks, from the scorecards of one or several judges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property

from msgspec import Struct
from msgspec.structs import replace

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.card import CLEAN, Scorecard, letters, points
from judge_tui.judging.ranking import mean, ranked
from judge_tui.judging.read_once import ReadOnce
from judge_tui.judging.rubric import Rubric, half_up
from judge_tui.judging.workspace import Workspace

__all__ = [
    "Board", "Cell", "DimensionTable", "Row", "build_board", "dimension_table", "figure", "sealed_cards",
]  # fmt: skip


class Cell(Struct, frozen=True):
    """What the judges say on one submission.

    Attributes:
        points: Mean of their points; ``None`` when nobody gave any.
        counted: Judges whose points are in the mean.
        letters: The different letters that they gave, sorted; where none did, the one that the points earn.
        cards: Scorecards.
        scored: Dimensions scored in the fullest card.
        dimensions: Dimensions of the rubric.
        stale: Whether a card was written on other files than those that are there now.
        unblinded: Whether a card that was scored blind says other scores since its judge knows the names.
        verdicts: What the judges call it as a whole, each once, but for ``clean``.
    """

    points: float | None = None
    counted: int = 0
    letters: tuple[str, ...] = ()
    cards: int = 0
    scored: int = 0
    dimensions: int = 0
    stale: bool = False
    unblinded: bool = False
    verdicts: tuple[str, ...] = ()


class Row(Struct, frozen=True):
    """One model: its cells by task and the mean over the tasks with points."""

    model: str
    title: str
    cells: Mapping[str, Cell]

    @property
    def mean(self) -> float | None:
        """Mean of the points over the tasks that have some."""
        return mean(cell.points for cell in self.cells.values())

    @property
    def counted(self) -> int:
        """Tasks in the mean."""
        return sum(cell.points is not None for cell in self.cells.values())


class Board(Struct, frozen=True, dict=True):
    """Rows in the order of their means, over tasks that have scorecards.

    A row of a model is about its first attempts: one answer of each is set beside one of every other.

    Attributes:
        tasks: Task id → title.
        rows: Of models, best mean first.
        judges: Who scored, sorted.
        newest: Day of the newest scorecard, as ``YYYY-MM-DD``; empty when none says.
        cards: The scorecards.
        sealed: Those that are judged blind, and count from their reveal on.
        further: Rows of further attempts, by their names.
    """

    tasks: Mapping[str, str]
    rows: tuple[Row, ...]
    judges: tuple[str, ...]
    newest: str
    cards: tuple[Scorecard, ...]
    sealed: tuple[Scorecard, ...] = ()
    further: tuple[Row, ...] = ()

    @property
    def all_rows(self) -> tuple[Row, ...]:
        """Rows of models, then those of further attempts."""
        return (*self.rows, *self.further)

    def on(self, task: str, model: str) -> Sequence[Scorecard]:
        """The scorecards on a submission."""
        return self._by_place.get((task, model), ())

    @cached_property
    def _by_place(self) -> dict[tuple[str, str], list[Scorecard]]:
        found: defaultdict[tuple[str, str], list[Scorecard]] = defaultdict(list)
        for card in self.cards:
            found[card.task, card.model].append(card)
        return dict(found)


class DimensionTable(Struct, frozen=True):
    """Scores on one task by dimension: rows of (title, model → mean points, judges counted)."""

    task: str
    title: str
    models: tuple[str, ...]
    rows: tuple[tuple[str, Mapping[str, tuple[float, int]]], ...]


def build_board(
    workspace: Workspace,
    keep: Callable[[Scorecard], bool] = lambda card: True,
    *,
    tasks: Collection[str] | None = None,
    faults: dict[tuple[str, str], str] | None = None,
) -> Board:
    """The scoreboard of a workspace; cards that are judged blind count from their reveal on.

    Args:
        workspace: Where the scorecards are.
        keep: Which scorecards count.
        tasks: Those that are read; all by default.
        faults: Where given, it takes what is wrong with a scorecard or a submission, by
            (model, task).

    Raises:
        JudgeError: A rubric is malformed, or a scorecard is and nobody takes that.
    """
    workspace = ReadOnce.of(workspace)
    wanted = {
        task: [card for card in workspace.scorecards(task, faults) if keep(card)]
        for task in (workspace.tasks() if tasks is None else tasks)
    }
    by_task = {task: [card for card in found if not card.sealed] for task, found in wanted.items()}
    by_task = {task: cards for task, cards in by_task.items() if cards}
    rubrics = {task: workspace.rubric(task) for task in by_task}
    cards = tuple(card for task in by_task for card in by_task[task])
    current = cache(lambda model, task: workspace.submission(model, task).digest)
    board = Board(
        {task: rubric.title for task, rubric in rubrics.items()},
        (),
        tuple(sorted({card.judge for card in cards})),
        max((card.day for card in cards), default=""),
        cards,
        tuple(card for found in wanted.values() for card in found if card.sealed),
    )
    rows = {}
    named = dict.fromkeys(card.model for card in cards)
    models = {workspace.parts(name)[0]: None for name in named}
    for model in models | named:
        cells: dict[str, Cell] = {}
        for task in by_task:
            if own := board.on(task, model):
                try:
                    cells[task] = _cell(own, rubrics[task], current)
                except JudgeError as error:
                    if faults is None:
                        raise
                    faults.setdefault((model, task), str(error))
        title = workspace.model_title(model)
        rows[model] = Row(model, title, cells)
    order = ranked({model: rows[model].mean for model in models})
    further = sorted(rows.keys() - models.keys(), key=workspace.parts)
    return replace(
        board,
        rows=tuple(rows[model] for model in order),
        further=tuple(rows[model] for model in further),
    )


def sealed_cards(
    workspace: Workspace,
    tasks: Collection[str] | None = None,
    faults: dict[tuple[str, str], str] | None = None,
) -> tuple[Scorecard, ...]:
    """The scorecards that no board counts because the names are not revealed to their judges yet.

    Args:
        workspace: Where the scorecards are.
        tasks: Those that are read; all by default.
        faults: As for :func:`build_board`.

    Raises:
        JudgeError: A scorecard is malformed, and nobody takes that.
    """
    read = workspace.tasks() if tasks is None else tasks
    return tuple(card for task in read for card in workspace.scorecards(task, faults) if card.sealed)


def _cell(cards: Iterable[Scorecard], rubric: Rubric, current: Callable[[str, str], str]) -> Cell:
    cards = list(cards)
    given = [p for card in cards if (p := points(card, rubric)) is not None]
    return Cell(
        points=mean(given),
        counted=len(given),
        letters=letters(cards, rubric),
        cards=len(cards),
        scored=max(sum(score is not None for score in card.scores.values()) for card in cards),
        dimensions=len(rubric.dimensions),
        stale=any(c.submission is not None and c.submission != current(c.model, c.task) for c in cards),
        unblinded=any(card.blind is not None and bool(card.blind.changed) for card in cards),
        verdicts=tuple(sorted({c.verdict.kind for c in cards if c.verdict and c.verdict.kind != CLEAN})),
    )


def dimension_table(board: Board, task: str, rubric: Rubric) -> DimensionTable | None:
    """The scores on a task by dimension; ``None`` when no dimension is scored."""
    on = {row.model: board.on(task, row.model) for row in board.rows}
    titles = {dimension.id: dimension.title for dimension in rubric.dimensions}
    others = sorted({name for cards in on.values() for card in cards for name in card.scores} - titles.keys())
    rows = []
    for name in (*titles, *others):
        cells: dict[str, tuple[float, int]] = {}
        for model, cards in on.items():
            given = [score for card in cards if (score := card.score(name)) is not None]
            if given:
                cells[model] = (sum(given) / len(given), len(given))
        rows.append((titles.get(name, name), cells))
    scored = {model for _, cells in rows for model in cells}
    if not scored:
        return None
    models = tuple(row.model for row in board.rows if row.model in scored)
    return DimensionTable(task, rubric.title, models, tuple(rows))


def figure(value: float | None, counted: int = 1) -> str:
    """Points as a table shows them: whole for one judge, with one decimal for the mean of several."""
    if value is None:
        return "–"
    if counted <= 1:
        return str(half_up(value))
    return f"{half_up(value * 10) / 10:.1f} ({counted})"
