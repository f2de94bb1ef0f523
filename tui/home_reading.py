"""Home is read in the background, a stretch at a time: this judge's word first, then that of others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from judge_tui.judging.standing import Outline
from judge_tui.tui.background import Background
from judge_tui.tui.home_board import Batch, Cell, HomeBoard
from judge_tui.tui.past import Past, PastComparisons

__all__ = ["HomeReading"]


class HomeReading:
    """Reads into a board; the screen is told after each stretch.

    Args:
        board: What is read.
        past: Comparisons of earlier.
        background: The thread.
        show: Shows what the board holds now.
        show_past: Shows those of the earlier comparisons of which all submissions are there.
        awaited: Whether anybody looks: behind a comparison nothing is read, since the code must scroll.
        resting: Whether nobody types: a key that is held has the interpreter for itself.
        later: Calls something in a moment.

    Attributes:
        turn: Counts the readings; what an earlier one still brings is passed over.
    """

    def __init__(
        self,
        board: HomeBoard,
        past: PastComparisons,
        background: Background,
        show: Callable[[], None],
        show_past: Callable[[Sequence[Past]], None],
        awaited: Callable[[], bool],
        resting: Callable[[], bool],
        later: Callable[[Callable[[], None]], object],
    ) -> None:
        self._board, self._past, self._background = board, past, background
        self._show, self._show_past, self._awaited = show, show_past, awaited
        self._resting, self._later = resting, later
        self._left: deque[Cell] = deque()
        self._unheard: deque[Cell] = deque()
        self.turn = 0

    @property
    def settled(self) -> bool:
        """Whether everything has been read."""
        known = self._board.outline is not None or bool(self._board.fault)
        return known and not (self._background.waiting or self._left or self._unheard)

    def stop(self) -> None:
        """Take in nothing more."""
        self.turn += 1

    def all_again(self) -> None:
        """Read everything again, what is known staying in view."""
        self.turn += 1
        turn = self.turn

        def listed(found: Outline | str) -> None:
            if turn == self.turn:
                self._board.take_outline(found)
                for task in self._board.tasks:
                    self._board.forget_task(task)
                self._left = deque(self._in_view_first())
                self._unheard = deque(self._board.cells)
                self._past_again()
                self._show()
                self._on()

        self._background.submit(self._board.listing, listed)

    def _in_view_first(self) -> list[Cell]:
        """All cells, as they stand on the screen from the top."""
        board = self._board
        rest = dict.fromkeys(board.rows)
        return [
            (model, task)
            for model in (*rest, *(m for m in board.models if m not in rest))
            for task in board.tasks
        ]

    def task_again(self, task: str) -> None:
        """Read the cells of a task again, as after a comparison."""
        self.turn += 1
        cells = self._board.forget_task(task)
        self._left = deque([*cells, *(cell for cell in self._left if cell[1] != task)])
        self._unheard = deque([*cells, *(cell for cell in self._unheard if cell[1] != task)])
        self._past_again()
        self._on()

    def resume(self) -> None:
        """Go on with what was left when somebody went elsewhere."""
        if (self._left or self._unheard) and self.turn:
            self.turn += 1
            self._on()

    def _past_again(self) -> None:
        self._background.submit(self._past.read, self._take_past)

    def _take_past(self, found: Sequence[Past]) -> None:
        there = self._board.outline.submitted if self._board.outline else frozenset()
        self._show_past([past for past in found if all((model, past.task) in there for model in past.models)])

    def _on(self) -> None:
        if not self._left and not self._unheard:
            self._show()
            return
        turn, own = self.turn, bool(self._left)
        begun = bool(self._board.standings)
        if begun and not self._resting():
            self._later(partial(self._on_in, turn))
            return
        left = self._left if own else self._unheard
        read = self._board.read if own else self._board.listen

        def taken(batch: Batch) -> None:
            if turn == self.turn:
                self._board.take(batch)
                if own:
                    self._left = batch.left
                else:
                    self._unheard = batch.left
                self._show()
                if self._awaited():
                    self._on()

        def goes_on() -> bool:
            return turn == self.turn and (not begun or self._resting())

        self._background.submit(lambda: read(left, goes_on), taken)

    def _on_in(self, turn: int) -> None:
        if turn == self.turn and self._awaited():
            self._on()
