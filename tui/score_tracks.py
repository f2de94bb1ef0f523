"""Points of one task, a line for each model from 0 to 100: its mean, its attempts, what others gave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from judge_tui.judging.attempt_figures import deviation
from judge_tui.judging.rubric import half_up
from judge_tui.tui.home_board import HomeBoard
from judge_tui.tui.look.bars import plain_characters

__all__ = ["Track", "scale", "signs", "tracks"]

#: Mean, attempt, and others' mean; the same where a terminal has no such signs.
_SIGNS, _PLAIN_SIGNS = ("━", "●", "◇"), ("=", "o", "x")


def signs() -> tuple[str, str, str]:
    """Of a mean, an attempt, and others' mean."""
    return _PLAIN_SIGNS if plain_characters() else _SIGNS


class Track(Struct, frozen=True):
    """What a model's answers to a task were given.

    Attributes:
        model: Folder name of the model; of its first attempt.
        points: Of each attempt that has some, as far as they may be told.
        others: Mean of other judges' points of the same answers; ``None`` for none.
        state: Why there are no points, in a word or two; empty where there are some.
    """

    model: str
    points: tuple[float, ...] = ()
    others: float | None = None
    state: str = ""

    @property
    def mean(self) -> float | None:
        """Of the attempts."""
        return sum(self.points) / len(self.points) if self.points else None

    def drawn(self, width: int) -> str:
        """The line, so many columns from 0 to 100."""
        line, attempt, other = signs()
        mean = self.mean
        cells = [" "] * width
        if mean is not None:
            cells[: _column(mean, width) + 1] = [line] * (_column(mean, width) + 1)
        for points in self.points if len(self.points) > 1 else ():
            cells[_column(points, width)] = attempt
        if self.others is not None:
            cells[_column(self.others, width)] = other
        return "".join(cells)

    @property
    def told(self) -> str:
        """The figures, in a few words."""
        if self.mean is None:
            return self.state
        spread = deviation(self.points)
        return f"{half_up(self.mean)}" + (
            f" ± {spread:.1f} (n = {len(self.points)})" if spread is not None else ""
        )


def _column(points: float, width: int) -> int:
    return min(round(points / 100 * (width - 1)), width - 1)


def tracks(board: HomeBoard, task: str) -> tuple[Track, ...]:
    """A track for each model with an answer to a task, the best first."""
    rows: dict[str, list[str]] = {}
    for row in board.submitted(task):
        group = board.outline.attempts.get(row, (row,)) if board.outline else (row,)
        rows.setdefault(group[0] if len(group) > 1 else row, []).append(row)
    found = [_track(board, task, model, several) for model, several in rows.items()]
    return tuple(sorted(found, key=lambda track: (track.mean is None, -(track.mean or 0.0))))


def _track(board: HomeBoard, task: str, model: str, rows: Sequence[str]) -> Track:
    known = [said for row in rows if (said := board.standings.get((row, task))) is not None]
    if any(said.blind for said in known):
        # that of one among several would tell which it is
        return Track(rows[0], state="blind")
    points = tuple(float(said.points) for said in known if said.points is not None)
    if not points:
        return Track(rows[0], state="reading…" if len(known) < len(rows) else "not scored")
    scored = [said.model for said in known if said.points is not None]
    given = list(_given(board, task, scored))
    return Track(rows[0], points, sum(given) / len(given) if given else None)


def _given(board: HomeBoard, task: str, models: Iterable[str]) -> Iterator[float]:
    for model in models:
        for word in board.others.get((model, task), {}).values():
            if word.points is not None:
                yield word.points


def scale(width: int) -> str:
    """The values below the lines."""
    line = ""
    for value in (0, 25, 50, 75, 100) if width >= 24 else (0, 50, 100):
        text = str(value)
        begin = min(_column(value, width), width - len(text))
        line = f"{line:<{begin}}{text}"
    return line
