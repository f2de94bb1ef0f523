"""Search hits in the code: from one to the next, and a look at the first while a search is typed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from judge_tui.tui.code.search import Hit
from judge_tui.tui.code.source import Source
from judge_tui.tui.widgets.code_pointing import CodePointing
from judge_tui.tui.widgets.counted import past_end

__all__ = ["CodeHits", "Standing"]


class Standing(Struct, frozen=True):
    """How a file is looked at.

    Attributes:
        source: The file.
        cursor: Line of the cursor, 0-based.
        char: Where in it the hit begins that was gone to last; 0 without one.
        folds: First line of each closed fold → its last line.
        top: First row in view.
        left: First column in view.
    """

    source: Source
    cursor: int
    char: int
    folds: Mapping[int, int]
    top: int
    left: int


class CodeHits(CodePointing):
    """The part of the code view that goes to search hits."""

    if TYPE_CHECKING:
        # what the code view itself brings
        _moved: Callable[[], None]

        def _lay_out(self) -> None: ...
        def _scroll_to_row(self, row: int) -> None: ...
        def _slide_to(self, left: int) -> None: ...

    @property
    def standing(self) -> Standing:
        """How the file is looked at now."""
        here = self.hits[self.hit] if self.hit is not None else None
        char = here.start if here is not None and here.line == self.cursor else 0
        return Standing(self.source, self.cursor, char, dict(self.folds), self.scroll_offset.y, self.left)

    def stand(self, standing: Standing) -> None:
        """Look at the file as before; another file stays as it is."""
        if standing.source is not self.source or standing == self.standing:
            return
        self.hit = None
        if self.folds != standing.folds:
            self.folds = dict(standing.folds)
            self._lay_out()
        self._scroll_to_row(standing.top)
        self.cursor, self.left = standing.cursor, standing.left
        self.refresh()
        self._moved()

    def look_from(self, standing: Standing) -> None:
        """Go to the first hit at or after where the view stood, round the end; to none, back there."""
        self.stand(standing)
        if self.hits and standing.source is self.source:
            where = standing.cursor, standing.char
            at = bisect_left(self.hits, where, key=lambda hit: (hit.line, hit.start)) % len(self.hits)
            row, top = self.rows.row_of(self.hits[at].line), self.scroll_offset.y
            if not top <= row < top + self.height:
                self._scroll_to_row(max(row - self.height // 3, 0))
            self._go_to(at)

    def go_to_hit(self, steps: int) -> None:
        """Go so many search hits further or, below 0, back, round the end; there must be one."""
        if self.hit is not None and self.hits[self.hit].line == self.cursor:
            # a line may hold many
            at = self.hit + steps
        else:
            lines = [hit.line for hit in self.hits]
            at = bisect_left(lines, self.cursor + 1) - 1 if steps > 0 else bisect_left(lines, self.cursor)
            at += steps
        if at != at % len(self.hits):
            self.notify(past_end("match", steps), markup=False, timeout=2)
        self._go_to(at % len(self.hits), centre=True)

    def _go_to(self, at: int, *, centre: bool = False) -> None:
        self.hit = at
        self.go(self.hits[at].line, centre=centre)
        self.reveal_columns(self.hits[at])

    def reveal_columns(self, hit: Hit) -> None:
        """Bring the columns of a search hit into view."""
        start, end = self.source.cell_of(hit.line, hit.start), self.source.cell_of(hit.line, hit.end)
        if self.wrapped:
            row, top = self.rows.row_of(hit.line, start), self.scroll_offset.y
            if not top <= row < top + self.height:
                self._scroll_to_row(max(row - self.height // 3, 0))
        elif start < self.left or end > self.left + self.room:
            self._slide_to(0 if end <= self.room else max(start - self.room // 3, 0))
