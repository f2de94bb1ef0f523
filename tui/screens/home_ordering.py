"""By what the rows of Home are sorted, and which of them are in view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from judge_tui.tui.home_board import STATES, HomeBoard
from judge_tui.tui.home_rows import OWN, Order
from judge_tui.tui.keys.preferences import keep_choice, kept_choice
from judge_tui.tui.widgets.matrix import Matrix
from judge_tui.tui.widgets.matrix_cells import HEADS

if TYPE_CHECKING:
    from judge_tui.tui.widgets.filter_bar import FilterBar

__all__ = ["HomeOrdering"]

#: How the choice of an order is remembered.
_ORDER = "home-order"


class HomeOrdering:
    """Sorts and filters the rows of a matrix.

    Args:
        screen: Where words of a filter are typed, and columns picked.
        board: Whose rows these are; it begins with the order that was chosen last.
        matrix: Shows them.
    """

    def __init__(self, screen: Screen[None], board: HomeBoard, matrix: Matrix) -> None:
        self._screen, self._board, self._matrix = screen, board, matrix
        board.order = Order.read(kept_choice(_ORDER))

    def choose(self) -> None:
        """Have a column picked; that under the cursor comes first."""
        from judge_tui.tui.screens.picker import Choice, Picker

        board, here = self._board, self._matrix.cell
        own = [Choice(HEADS.get(column, "name of the model"), self._way(column), column) for column in OWN]
        tasks = [Choice(task, self._way(f"task:{task}"), f"task:{task}") for task in board.tasks]
        chosen = f"task:{here[1]}" if here is not None else board.order.column

        def pick(column: object) -> None:
            if isinstance(column, str):
                self.by(column)

        self._screen.app.push_screen(Picker("Sort by", [*own, *tasks], chosen, does="sorts"), pick)

    def _way(self, column: str) -> str:
        order = self._board.order
        return "" if order.column != column else "highest first" if order.down else "lowest first"

    def by(self, column: str) -> None:
        """Sort by a column, or the other way round where that is so already; it is remembered."""
        self._board.order = self._board.order.by(column)
        keep_choice(_ORDER, self._board.order.written)
        self._board.arrange()
        self._matrix.to_top()

    @property
    def _filter(self) -> FilterBar | None:
        from judge_tui.tui.widgets.filter_bar import FilterBar

        return next(iter(self._screen.query(FilterBar)), None)

    def open_filter(self) -> None:
        """Have the words of a filter typed, or typed anew."""
        from judge_tui.tui.widgets.filter_bar import FilterBar

        if (bar := self._filter) is not None:
            bar.take_focus()
        else:
            *states, last = STATES
            placeholder = f"a part of a name; {', '.join(states)} or {last}"
            self._screen.mount(FilterBar(placeholder), before="#hints")

    def drop_filter(self) -> None:
        """Show all rows."""
        if (bar := self._filter) is not None:
            bar.remove()
        self.narrow("")

    def narrow(self, typed: str) -> None:
        """Show those rows that are meant."""
        stay = self._matrix.cell
        self._board.typed = typed
        self._board.arrange()
        self._matrix.renew(stay)
        self.count()

    def count(self) -> None:
        """Tell how many rows are in view, where some are left out."""
        if self._board.typed and (bar := self._filter) is not None:
            bar.count(len(self._board.rows), len(self._board.models))
