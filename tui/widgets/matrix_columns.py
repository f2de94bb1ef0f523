"""Which columns of Home fit beside each other, and how wide each is."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from judge_tui.tui.home_rows import LEFT, MEAN, OTHERS, WON

__all__ = ["NARROW", "Columns", "arranged"]

#: Columns of a cell: with the worst verdict alone, and as much as verdicts and a bar fill.
#: Mark, score and letter, and a sign take eight.
NARROW, _VERDICTS, _BARS, _WIDEST = 10, 16, 24, 34
#: A column beside the tasks → its columns at least, in the order of need.
_LEAST = {MEAN: 6, LEFT: 6, WON: 10, OTHERS: 12}
#: A screen narrower than this has room for no such column, and the mean grows by at most so much.
_SMALL, _BAR = 60, 16


class Columns(Struct, frozen=True):
    """Where what stands.

    Attributes:
        names: Columns of a model's name.
        own: Columns beside the tasks, as id and width, from the left.
        cell: Columns of a task.
        shown: Tasks in view.
    """

    names: int = 14
    own: tuple[tuple[str, int], ...] = ()
    cell: int = NARROW
    shown: int = 1

    @property
    def before(self) -> int:
        """Columns before the first task."""
        return self.names + sum(width for _, width in self.own)

    def task_at(self, x: int) -> int | None:
        """The task in view that a column of the screen belongs to; ``None`` left of them."""
        return (x - self.before) // self.cell if x >= self.before else None

    def own_at(self, x: int) -> str | None:
        """The column beside the tasks that a column of the screen belongs to; ``None`` elsewhere."""
        left = self.names
        for column, width in self.own:
            if left <= x < left + width:
                return column
            left += width
        return None


def arranged(width: int, longest: int, tasks: int, telling: Sequence[str]) -> Columns:
    """Columns for a width.

    Args:
        width: Of all.
        longest: Columns of the longest name.
        tasks: How many there are.
        telling: Those of the columns beside the tasks that have something to say.
    """
    names = min(max(longest, 8) + 3, max(width // 4, 14))
    count = max(tasks, 1)
    own: dict[str, int] = {}
    for column, least in _LEAST.items():
        fits = names + sum(own.values()) + least + count * NARROW <= width
        # the mean is worth more than one of more tasks than are in view anyway
        if column in telling and (fits or (column == MEAN and width >= _SMALL)):
            own[column] = least
    room = width - names - sum(own.values())
    if room < count * NARROW:
        return Columns(names, tuple(own.items()), NARROW, max(room // NARROW, 1))
    cell = min(room // count, _VERDICTS)
    if MEAN in own:
        more = min(max(room - cell * count, 0), _BAR)
        # a bar of less than four columns says less than one sign
        own[MEAN] += more if more > 4 else 0
    room = width - names - sum(own.values())
    return Columns(names, tuple(own.items()), min(room // count, _WIDEST), count)
