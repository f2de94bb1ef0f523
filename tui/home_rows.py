"""The rows of Home in plain Python: what stands beside a model, their order, and which are in view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from judge_tui.judging.fellow_judges import Word
from judge_tui.judging.matchup import Matchup
from judge_tui.judging.standing import Standing

__all__ = ["ASCENDING", "MODEL", "OWN", "Order", "RowSaid", "in_order", "matches", "outcome", "said_of_row"]

#: Columns beside those of the tasks, by their ids.
MODEL, MEAN, LEFT, WON, OTHERS = "model", "mean", "left", "won", "others"
OWN = (MODEL, MEAN, LEFT, WON, OTHERS)
#: Columns of which the least stands on top unless it is asked otherwise.
ASCENDING = (MODEL,)


class Order(Struct, frozen=True):
    """By what rows are sorted.

    Attributes:
        column: One of :data:`OWN`, or a task behind ``task:``.
        down: Whether the highest stands on top.
    """

    column: str = MODEL
    down: bool = False

    @classmethod
    def read(cls, text: str) -> Order:
        """What :attr:`written` wrote; that of the names where it is nothing."""
        way, column = text[:1], text[1:]
        known = column in OWN or column.startswith("task:")
        return cls(column, way == "-") if known and way in ("+", "-") else cls()

    @property
    def written(self) -> str:
        """In a few letters, for the reader's settings."""
        return f"{'-' if self.down else '+'}{self.column}"

    def by(self, column: str) -> Order:
        """The order by a column; that which holds already is turned round."""
        if column == self.column:
            return Order(column, not self.down)
        return Order(column, column not in ASCENDING)


class RowSaid(Struct, frozen=True):
    """What a judge has said of all of a model's answers.

    Attributes:
        mean: Of the points.
        judged: Answers that are judged.
        there: Answers that there are.
        won: Matchups that it won.
        lost: Matchups that another won.
        tied: Matchups that nobody won.
        others: Mean of other judges' points, of those answers that this judge gave points.
        above: By how much that is higher than this judge's.
        both: Answers that both gave points.
    """

    mean: float | None = None
    judged: int = 0
    there: int = 0
    won: int = 0
    lost: int = 0
    tied: int = 0
    others: float | None = None
    above: float = 0.0
    both: int = 0

    @property
    def left(self) -> int:
        """Answers that are still to be judged."""
        return max(self.there - self.judged, 0)

    def figure(self, column: str) -> float | None:
        """What a column of :data:`OWN` is sorted by; ``None`` where there is nothing."""
        if column == MEAN:
            return self.mean
        if column == LEFT:
            return self.left if self.there else None
        if column == WON:
            return self.won - self.lost if self.won + self.lost + self.tied else None
        return self.above if self.both else None


def said_of_row(
    standings: Iterable[Standing],
    model: str,
    matchups: Iterable[Matchup],
    others: Mapping[str, Mapping[str, Word]],
) -> RowSaid:
    """What stands beside a model.

    Args:
        standings: Its answers, as far as they are known.
        model: Its folder's name.
        matchups: Those that it is in, of which the outcome may be seen.
        others: Task → judge → word.
    """
    known = [said for said in standings if said.files or said.judged]
    given = [said.points for said in known if said.points is not None]
    won = lost = tied = 0
    for matchup in matchups:
        won += matchup.winner == model
        lost += matchup.winner in matchup.models and matchup.winner != model
        tied += matchup.winner not in matchup.models
    pairs = [
        (word.points, said.points)
        for said in known
        if said.points is not None
        for word in others.get(said.task, {}).values()
        if word.points is not None
    ]
    theirs = [one for one, _ in pairs]
    return RowSaid(
        sum(given) / len(given) if given else None,
        sum(said.judged for said in known),
        len(known),
        won,
        lost,
        tied,
        sum(theirs) / len(theirs) if theirs else None,
        sum(one - own for one, own in pairs) / len(pairs) if pairs else 0.0,
        len(pairs),
    )


def in_order(models: Sequence[str], order: Order, figure: Callable[[str], float | None]) -> tuple[str, ...]:
    """Models sorted; those without a figure come last, however it goes.

    Args:
        models: By their names.
        order: How.
        figure: What a model is sorted by, where that is not its name.
    """
    if order.column == MODEL:
        return tuple(reversed(models)) if order.down else tuple(models)
    known = {model: value for model in models if (value := figure(model)) is not None}
    # equals stay by their names
    ordered = sorted(known, key=lambda model: -known[model] if order.down else known[model])
    return (*ordered, *(model for model in models if model not in known))


def matches(typed: str, name: str, model: str, state: Callable[[str], bool]) -> bool:
    """Whether a row is meant by all the words of a filter.

    Args:
        typed: The words.
        name: What the model is called.
        model: Its folder's name.
        state: Whether the row is as a word says that is no part of the name: ``open``, ``stale``.
    """
    shown = f"{name}\n{model}".casefold()
    return all(word in shown or state(word) for word in typed.casefold().split())


def outcome(matchup: Matchup, name: Callable[[str], str]) -> tuple[str, str, str, str]:
    """Who won: who is ahead, what was done, whom to, and by how much; empty texts where that is not said."""
    winner, by = matchup.winner, f" by {matchup.margin}" if matchup.margin else ""
    if winner in matchup.models:
        rest = ", ".join(name(model) for model in matchup.models if model != winner)
        return name(winner), " beat ", rest, by
    every = " · ".join(map(name, matchup.models))
    return "", "", every, f": {winner}" if winner else ""
