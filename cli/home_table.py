"""The matrix of models × tasks as plain text, with as much in each cell as fits a page."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec import Struct

from judge_tui.checks.errors import JudgeError
from judge_tui.checks.store import last_outcomes
from judge_tui.checks.verdict import SIGNS, Verdict
from judge_tui.cli.table import aligned, cells
from judge_tui.judging.plain import plain
from judge_tui.judging.read_once import ReadOnce
from judge_tui.judging.refusals import newer_cards
from judge_tui.judging.scoreboard import Row, build_board, figure, sealed_cards
from judge_tui.judging.standing import tallied
from judge_tui.judging.workspace import Workspace

__all__ = ["Cell", "Matrix", "matrix", "readable_tasks"]

_Rows = Mapping[str, Row]
_TITLE = "model"
#: Columns of a task's name at least, where a page is narrow.
_NAME = 8


class Cell(Struct, frozen=True):
    """What stands in one cell.

    Attributes:
        said: Points and letter, how far a judge is, or what keeps it from being told.
        judges: How many gave points, where there are several.
        checks: Verdicts with their counts, the worst first.
    """

    said: str = ""
    judges: str = ""
    checks: tuple[tuple[Verdict, int], ...] = ()

    def text(self, detail: int) -> str:
        """As much as there is room for: 3 all, 2 the worst verdict and the passes, 1 the worst, 0 points."""
        kept = self.checks
        if detail < 3:
            kept = tuple(
                one for n, one in enumerate(kept) if not n or (detail == 2 and one[0] is Verdict.PASS)
            )
        told = [f"{SIGNS[verdict]}{count}" for verdict, count in kept if detail]
        return plain(
            " ".join(part for part in (self.said, self.judges if detail == 3 else "", *told) if part)
        )


class Matrix(Struct, frozen=True):
    """Models × tasks.

    Attributes:
        models: Display names, a row each.
        tasks: Ids, a column each.
        cells: Task → a cell per model.
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    cells: Mapping[str, tuple[Cell, ...]]

    def rows(self, detail: int) -> list[list[str]]:
        """As texts, with a head; see :meth:`Cell.text`."""
        body = [
            [model, *(self.cells[task][number].text(detail) for task in self.tasks)]
            for number, model in enumerate(self.models)
        ]
        return [[_TITLE, *self.tasks], *body]

    def lines(self, width: int) -> list[str]:
        """As lines of a page: with less in each cell where that makes them fit, else in several blocks."""
        for detail in (3, 2, 1, 0):
            rows = self.rows(detail)
            if fitting := _fitted(rows, width):
                return aligned(fitting, width)
        return aligned(self.rows(2), width)


def _fitted(rows: list[list[str]], width: int) -> list[list[str]] | None:
    """The rows, names of tasks cut in their middle as far as they must be; ``None`` where they do not fit."""
    wide = [max(cells(row[at]) for row in rows[1:]) for at in range(len(rows[0]))]
    names = rows[0][1:]
    least = [max(own, min(cells(name), _NAME)) for own, name in zip(wide[1:], names, strict=True)]
    room = width - max(wide[0], cells(_TITLE)) - sum(2 + column for column in least)
    if room < 0:
        return None
    while room and any(column < cells(name) for column, name in zip(least, names, strict=True)):
        # the name that is cut most has the next column
        most = max(range(len(names)), key=lambda n: cells(names[n]) - least[n])
        least[most] += 1
        room -= 1
    shown = [_cut(name, column) for name, column in zip(names, least, strict=True)]
    return [[rows[0][0], *shown], *rows[1:]]


def _cut(name: str, width: int) -> str:
    """A name cut in its middle, since names of tasks differ at both ends."""
    if len(name) <= width:
        return name
    tail = max(width // 2 - 1, 0)
    return f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"


def matrix(workspace: Workspace, faults: list[str] | None = None) -> Matrix:
    """What stands where, for the models and tasks of a workspace.

    Args:
        workspace: The workspace.
        faults: Told what cannot be read, a sentence each; its cells say ``!``.
    """
    workspace = ReadOnce.of(workspace)
    told = [] if faults is None else faults
    closed, broken = _closed(workspace, told), dict[tuple[str, str], str]()
    tasks = readable_tasks(workspace, told, broken)
    build = partial(build_board, workspace, tasks=tasks, faults=broken)
    here = {row.model: row for row in build(lambda card: not card.scored_elsewhere).rows}
    elsewhere = {row.model: row for row in build(lambda card: card.scored_elsewhere).rows}
    models = workspace.models()
    sealed = {(card.model, card.task) for card in sealed_cards(workspace, tasks, broken)}
    told += [*broken.values(), *newer_cards(workspace, tasks)]

    def cell(model: str, task: str) -> Cell:
        if (model, task) in broken:
            return Cell("!")
        if (model, task) in sealed:
            return Cell("blind")
        return _told(workspace, here, elsewhere, model, task, told)

    found: dict[str, tuple[Cell, ...]] = {}
    for task in workspace.tasks():
        if task not in tasks:
            found[plain(task)] = (Cell("!"),) * len(models)
            continue
        shown = {model: cell(model, task) for model in models if model not in closed}
        if any(each != Cell() for each in shown.values()):
            found[plain(task)] = tuple(shown.get(model, Cell("!")) for model in models)
    return Matrix(tuple(plain(workspace.model_title(model)) for model in models), tuple(found), found)


def readable_tasks(workspace: Workspace, faults: list[str], broken: dict[tuple[str, str], str]) -> list[str]:
    """Tasks whose rubric and folders can be read; what is wrong with a card alone costs its cell."""
    readable = []
    for task in workspace.tasks():
        try:
            if any(not card.sealed for card in workspace.scorecards(task, broken)):
                workspace.rubric(task)
        except JudgeError as error:
            faults.append(str(error))
        else:
            readable.append(task)
    return readable


def _closed(workspace: Workspace, faults: list[str]) -> set[str]:
    """Models whose folder cannot be read."""
    closed = set()
    for model in workspace.models():
        try:
            workspace.submitted(model)
        except JudgeError as error:
            closed.add(model)
            faults.append(str(error))
    return closed


def _told(
    workspace: Workspace,
    here: Mapping[str, Row],
    elsewhere: Mapping[str, Row],
    model: str,
    task: str,
    faults: list[str],
) -> Cell:
    try:
        return _cell(workspace, here, elsewhere, model, task)
    except JudgeError as error:
        faults.append(str(error))
        return Cell("!")


def _cell(workspace: Workspace, here: _Rows, elsewhere: _Rows, model: str, task: str) -> Cell:
    submission = workspace.submission(model, task)
    # one that is malformed is told here, not by the first check
    _ = submission.meta
    said, judges = _score(here, model, task)
    if not said and (published := _score(elsewhere, model, task))[0]:
        said, judges = f"{published[0]}*", published[1]
    if not said and submission.files:
        said = "○"
    # where blind is the rule, who has no points yet is still to be judged, and verdicts would tell who is who
    if not submission.files or (workspace.settings.blind and said in ("", "○")):
        return Cell(said, judges)
    verdicts = (outcome.verdict for outcome in last_outcomes(submission).values())
    return Cell(said, judges, tallied(verdicts))


def _score(board: _Rows, model: str, task: str) -> tuple[str, str]:
    """Points and letter or progress, and how many gave points."""
    row = board.get(model)
    cell = row.cells.get(task) if row else None
    if cell is None:
        return "", ""
    points, _, counted = figure(cell.points, cell.counted).partition(" ")
    shown = [points] if cell.points is not None else []
    shown += ["/".join(cell.letters)] if cell.letters else []
    said = " ".join(shown) or (f"{cell.scored}/{cell.dimensions}" if cell.scored else "")
    return said, counted
