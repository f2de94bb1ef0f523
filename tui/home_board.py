"""What Home shows, in plain Python: cells as they are read, marks, the queue, and what Enter opens."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from judge_tui.checks.errors import JudgeError
from judge_tui.judging.attempt_figures import Attempt, Attempts
from judge_tui.judging.attempts import passes_as_stored
from judge_tui.judging.fellow_judges import Fellow, Word, fellows, words
from judge_tui.judging.matchup import Matchup
from judge_tui.judging.pairs import Pair, partner, queue
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.standing import Outline, Standing, outline, standing
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.home_rows import Order, RowSaid, in_order, matches, said_of_row

__all__ = ["MOST", "STATES", "Batch", "Cell", "HomeBoard"]

#: So many submissions stand side by side.
MOST = 3
#: Seconds of reading between two looks at what else is to be done, and until the first rows are shown.
_BATCH_S, _FIRST_S = 0.15, 0.03
#: Seconds between two times that all rows, and what is due, are put in order anew while reading goes on.
_ORDER_S = 1.0

Cell = tuple[str, str]
#: Words of a filter → whether a submission is so.
STATES: Mapping[str, Callable[[Standing], bool]] = {
    "open": lambda said: said.open,
    "begun": lambda said: said.begun,
    "judged": lambda said: said.judged,
    "stale": lambda said: said.stale,
    "blind": lambda said: said.blind,
    "fail": lambda said: any(str(verdict) == "fail" for verdict in said.verdicts.values()),
    "fault": lambda said: bool(said.fault),
}


class Batch(Struct):
    """What one stretch of reading has found."""

    standings: list[Standing] = field(default_factory=list)
    decided: dict[str, list[Matchup]] = field(default_factory=dict)
    secret: dict[str, tuple[Matchup, ...]] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    others: dict[Cell, dict[str, Word]] = field(default_factory=dict)
    queue: tuple[Pair, ...] | None = None
    fellows: tuple[Fellow, ...] | None = None
    left: deque[Cell] = field(default_factory=deque)


class HomeBoard:
    """Models × tasks of a workspace, for one judge.

    :meth:`listing` and :meth:`read` touch the disk and belong into a thread; nothing that is shown changes.
    :meth:`take_outline` and :meth:`take` take in what they found.

    Args:
        workspace: Where everything is.
        judge: Whose scores are shown.
        backend: Whose stored verdicts are shown.
    """

    def __init__(self, workspace: Workspace, judge: str, backend: str = "auto") -> None:
        self.workspace, self.judge, self.backend = workspace, judge, backend
        self.outline: Outline | None = None
        self.standings: dict[Cell, Standing] = {}
        self.decided: dict[str, list[Matchup]] = {}
        self.faults: dict[str, str] = {}
        #: Task → matchups that were decided while names were hidden.
        self.secret: dict[str, tuple[Matchup, ...]] = {}
        #: What other people have said of each submission.
        self.others: dict[Cell, dict[str, Word]] = {}
        #: All who judge, this judge first; nobody where no other does.
        self.fellows: tuple[Fellow, ...] = ()
        self.fault = ""
        self.marked: list[Cell] = []
        #: Models in view, in their order.
        self.rows: tuple[str, ...] = ()
        self.order, self.typed = Order(), ""
        #: All cells, row by row.
        self.cells: tuple[Cell, ...] = ()
        self._rubrics: dict[str, Rubric] = {}
        self._queue: tuple[Pair, ...] | None = None
        self._said: dict[str, RowSaid] = {}
        self._told: dict[str, list[Matchup]] | None = None
        self._there: frozenset[Cell] = frozenset()
        self._put = self._counted = 0.0

    # reading

    def listing(self) -> Outline | str:
        """What there is, or a sentence on why that cannot be said."""
        self._rubrics = {}
        try:
            return outline(self.workspace, self.judge)
        except JudgeError as error:
            return str(error)
        except OSError as error:
            return f"{self.workspace.root}: cannot be read: {error.strerror}."

    def read(self, cells: Iterable[Cell], proceed: Callable[[], bool] = lambda: True) -> Batch:
        """Read cells for a short while; what is left over stands in the batch."""
        batch = Batch(left=deque(cells))
        end = time.monotonic() + (_BATCH_S if self.standings else _FIRST_S)
        while batch.left and proceed():
            model, task = batch.left.popleft()
            if task not in self.decided and task not in self.faults and task not in batch.decided:
                self._read_matchups(task, batch)
            batch.standings.append(self._standing(model, task))
            if time.monotonic() > end:
                break
        if self._queue is None or not batch.left or end > self._counted + _ORDER_S:
            # in the thread: of thousands, that takes longer than a screen may stand still
            self._counted = end
            read = {(said.model, said.task): said for said in batch.standings}
            batch.queue = self._due(self.standings | read, self.decided | batch.decided)
        return batch

    def listen(self, cells: Iterable[Cell], proceed: Callable[[], bool] = lambda: True) -> Batch:
        """Read for a short while what other people have said of submissions; as :meth:`read`."""
        batch = Batch(left=deque(cells))
        end = time.monotonic() + _BATCH_S
        while batch.left and proceed() and time.monotonic() < end:
            model, task = cell = batch.left.popleft()
            said = self.standings.get(cell)
            if said is not None and said.others:
                rubric = self._rubrics.get(task)
                batch.others[cell] = words(self.workspace, task, model, said.others, rubric)
        if not batch.left:
            known = {cell: self.standings[cell] for cell in self.cells if cell in self.standings}
            own = {cell: Word(said.points, said.judged) for cell, said in known.items() if said.files}
            found = fellows(self.judge, own, {**self.others, **batch.others})
            batch.fellows = found if len(found) > 1 else ()
        return batch

    def _standing(self, model: str, task: str) -> Standing:
        fault = self.outline.faults.get(model, "") if self.outline else ""
        if fault:
            return Standing(model, task, fault=fault)
        try:
            said = standing(self.workspace, model, task, self.judge, self.backend, self._rubrics)
            if self.outline and model in self.outline.attempts and said.verdicts:
                said = replace(said, passed=passes_as_stored(self.workspace.submission(model, task)))
            return said
        except Exception as error:
            # a fault of our own costs its cell: all of Home would wait for ever otherwise
            return Standing(model, task, fault=f"judge-tui cannot read this: {error!r}.")

    def _read_matchups(self, task: str, batch: Batch) -> None:
        from judge_tui.tui.blind.seen import decided_blind

        try:
            found = self.workspace.matchups(task, self.judge).matchups
        except JudgeError as error:
            batch.faults[task] = str(error)
            return
        batch.decided[task] = [matchup for matchup in found if matchup.decided]
        batch.secret[task] = decided_blind(self.workspace, self.judge, task, batch.decided[task])

    def take_outline(self, found: Outline | str) -> None:
        """Show other rows and columns."""
        self._queue = None
        if isinstance(found, str):
            self.fault = found
            return
        self.fault, self.outline = "", found
        self.cells = tuple((model, task) for model in found.models for task in found.tasks)
        self.marked = [cell for cell in self.marked if cell in found.submitted]
        there = self._there = frozenset(self.cells)
        self.standings = {cell: said for cell, said in self.standings.items() if cell in there}
        self.others = {cell: said for cell, said in self.others.items() if cell in there}
        self._said.clear()
        self._told = None
        self.arrange()

    def take(self, batch: Batch) -> None:
        """Take in what was read."""
        if batch.queue is not None:
            self._queue = batch.queue
        self.standings |= {(said.model, said.task): said for said in batch.standings}
        self.decided |= batch.decided
        self.secret |= batch.secret
        self.faults |= batch.faults
        self.others |= batch.others
        if batch.fellows is not None:
            self.fellows = batch.fellows
        self._told = None
        if any(self.decided.values()):
            # that the one may be seen may be what was missing of the other
            self._said.clear()
        for model in {said.model for said in batch.standings} | {model for model, _ in batch.others}:
            self._said.pop(model, None)
        # where rows are sorted by what is read, they come to rest once a second
        if not batch.left or time.monotonic() > self._put + _ORDER_S:
            self.arrange()

    def forget_task(self, task: str) -> list[Cell]:
        """A task's matchups are to be read anew; so are these cells of it."""
        self._rubrics.pop(task, None)
        self.decided.pop(task, None)
        self.secret.pop(task, None)
        self.faults.pop(task, None)
        self._said.clear()
        self._told = None
        return [cell for cell in self.cells if cell[1] == task]

    # what there is

    @property
    def models(self) -> tuple[str, ...]:
        """Rows."""
        return self.outline.models if self.outline else ()

    @property
    def tasks(self) -> tuple[str, ...]:
        """Columns."""
        return self.outline.tasks if self.outline else ()

    def name(self, model: str) -> str:
        """What a model is called."""
        titles = self.outline.titles if self.outline else {}
        return titles.get(model) or self.workspace.settings.titles.get(model, model)

    def submitted(self, task: str) -> tuple[str, ...]:
        """Models with a submission for a task."""
        there = self.outline.submitted if self.outline else frozenset()
        return tuple(model for model in self.models if (model, task) in there)

    def attempts(self, cell: Cell) -> Attempts | None:
        """The attempts that a cell's is one of; ``None`` where there is no other, or one is judged blind."""
        model, task = cell
        rows = self.outline.attempts.get(model, ()) if self.outline else ()
        known = [said for row in rows if (said := self.standings.get((row, task))) is not None]
        found = [said for said in known if said.files or said.judged]
        if len(found) < 2 or any(said.blind for said in found):
            return None
        every = tuple(
            Attempt(said.model, said.points, said.passed, "" if said.elsewhere else said.digest, said.stale)
            for said in found
        )
        assert self.outline is not None
        return Attempts(rows[0], self.outline.titles.get(rows[0], rows[0]), task, every)

    @property
    def nothing_due(self) -> str:
        """Why no pair is due, one sentence."""
        if self.fault or (self.outline is not None and not self.cells):
            return "Nothing to compare."
        if not self.whole:
            return "reading…"
        open_ = (said for said in self.standings.values() if said.files and not said.newer)
        alone = [said for said in open_ if not said.judged]
        if alone:
            more = f" and {len(alone) - 1} more" if len(alone) > 1 else ""
            return f"Alone, and not scored: {alone[0].model} · {alone[0].task}{more}."
        if not any(len(self.submitted(task)) > 1 for task in self.tasks):
            return "A comparison takes two submissions of one task."
        return "Everything is judged."

    @property
    def whole(self) -> bool:
        """Whether every cell has been read."""
        return self.outline is not None and len(self.standings) == len(self.cells)

    @property
    def queue(self) -> tuple[Pair, ...]:
        """What to compare next, as far as it is known."""
        if self._queue is None:
            self._queue = self._due(self.standings, self.decided)
        return self._queue

    def _due(
        self, standings: Mapping[Cell, Standing], decided: Mapping[str, list[Matchup]]
    ) -> tuple[Pair, ...]:
        return queue([standings[cell] for cell in self.cells if cell in standings], decided)

    # rows

    def arrange(self) -> None:
        """Put the rows in order, and leave out those that the filter does not mean."""
        self._put = time.monotonic()
        ordered = in_order(self.models, self.order, self._figure)
        if self.typed.strip():
            ordered = tuple(m for m in ordered if matches(self.typed, self.name(m), m, self._state_of(m)))
        self.rows = ordered

    def _figure(self, model: str) -> float | None:
        column = self.order.column
        if column.startswith("task:"):
            said = self.standings.get((model, column.removeprefix("task:")))
            return said.points if said is not None else None
        return self.row(model).figure(column)

    def _state_of(self, model: str) -> Callable[[str], bool]:
        def is_so(word: str) -> bool:
            known = (self.standings.get((model, task)) for task in self.tasks)
            return word in STATES and any(STATES[word](said) for said in known if said is not None)

        return is_so

    def row(self, model: str) -> RowSaid:
        """What stands beside a model, as far as it is known."""
        if model not in self._said:
            known = {task: said for task in self.tasks if (said := self.standings.get((model, task)))}
            others = {task: self.others.get((model, task), {}) for task in known}
            self._said[model] = said_of_row(known.values(), model, self._matchups_of(model), others)
        return self._said[model]

    # matchups

    def told(self, task: str) -> Iterator[Matchup]:
        """The matchups of a task whose outcome may be seen: it tells who is who where names are hidden."""
        for matchup in self.decided.get(task, ()):
            if not any(self._hidden(model, task) for model in matchup.models) and (
                matchup not in self.secret.get(task, ()) or all(self._open(m, task) for m in matchup.models)
            ):
                yield matchup

    def _matchups_of(self, model: str) -> list[Matchup]:
        if self._told is None:
            self._told = {}
            for task in self.tasks:
                for matchup in self.told(task):
                    for each in matchup.models:
                        self._told.setdefault(each, []).append(matchup)
        return self._told.get(model, [])

    def _hidden(self, model: str, task: str) -> bool:
        said = self.standings.get((model, task))
        if said is None:
            return (model, task) in self._there or self.workspace.settings.blind
        return said.blind or said.withheld

    def _open(self, model: str, task: str) -> bool:
        """Whether the judge has seen the name beside what is said of a submission."""
        said = self.standings.get((model, task))
        return said is not None and (said.revealed or said.judged)

    def matchup(self, task: str, models: Iterable[str]) -> Matchup | None:
        """The matchup of just these models, where its outcome may be seen."""
        wanted = frozenset(models)
        return next((one for one in self.told(task) if frozenset(one.models) == wanted), None)

    # choosing

    def mark(self, cell: Cell) -> str:
        """Mark a submission for a comparison, or take the mark away; why that does not go, else nothing."""
        if cell in self.marked:
            self.marked.remove(cell)
            return ""
        if self.outline is None or cell not in self.outline.submitted:
            return "There is no submission here."
        if self.marked and self.marked[0][1] != cell[1]:
            self.marked = []
        if len(self.marked) == MOST:
            return f"{MOST} are marked already: compare them, or take a mark away."
        self.marked.append(cell)
        return ""

    def chosen(self, cell: Cell) -> tuple[str, ...] | str:
        """The models that Enter on a cell compares, or a sentence on why there are none."""
        model, task = cell
        marked = [m for m in self.models if (m, task) in self.marked]
        if len(marked) > 1:
            return tuple(marked)
        there = self.submitted(task)
        if model not in there:
            return "There is no submission here."
        if marked and marked[0] != model:
            return tuple(m for m in there if m in (model, marked[0]))
        other = partner(model, task, self.queue, there)
        if other is None:
            return f"This is the only submission for {task}: there is nothing to compare it with."
        return tuple(m for m in there if m in (model, other))
