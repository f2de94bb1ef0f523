"""Holding the errors of one draw against what plain code reaches on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.check import Findings
from judge_tui.checks.size_conditions import only_where
from judge_tui.checks.tolerance import calibrated
from judge_tui.checks.verdict import Verdict

__all__ = ["Held", "coarse", "counted", "halving", "hold", "single_limit"]

#: No float32 arithmetic is taken as an excuse beyond this.
_SINGLE_AT_MOST = 1e-4
#: Widths that are right, at least, where those past one are wrong.
_NARROWER = 6


def coarse(error: float) -> str:
    """What a figure within float32's limit and past float64's is; float32 itself is rarely this close."""
    if error > 0.01 * float(np.finfo(np.float32).eps):
        return "float32 arithmetic on float64 input"
    return "coarser than float64 arithmetic, finer than float32"


@dataclass(slots=True)
class Held:
    """The worst of several figures of one kind, by its share of its own limit.

    Attributes:
        quantity: What is measured.
        error: The worst figure.
        limit: Its limit.
        count: How many figures there were.
        single: The limit for float32 arithmetic on the same input, if the input was float64.
        note: Where the worst figure was.
        seen: (B, T, D) of each draw, and whether it was right.
        off: The figures past their own limits.
    """

    quantity: str
    error: float = 0.0
    limit: float = float("inf")
    count: int = 0
    single: float = 0.0
    note: str = ""
    seen: list[tuple[tuple[int, ...], bool]] = field(default_factory=list)
    off: list[float] = field(default_factory=list)

    @property
    def wrong(self) -> bool:
        """Whether some draw is wrong, float32's limit counted."""
        return not all(fine for _, fine in self.seen)

    @property
    def only_where(self) -> str:
        """What the sizes of wrong draws alone have in common, as a clause."""
        return only_where(((counted(shape), fine) for shape, fine in self.seen), limits=True)

    @property
    def wrong_widths(self) -> tuple[int, int, int, int] | None:
        """The D of right draws next below wrong ones, the least and the most of these, the next above, or 0.

        None where nothing is wrong, where widths of either kind are mixed or no wide rows are meant.
        """
        wrong = [shape[2] for shape, fine in self.seen if not fine]
        right = {shape[2] for shape, fine in self.seen if fine}
        least, most = min(wrong, default=0), max(wrong, default=0)
        below = {width for width in right if width < least}
        between = sum(fine and least <= shape[2] <= most for shape, fine in self.seen)
        if len(below) < _NARROWER or between >= len(wrong):
            return None
        return max(below), least, most, min((width for width in right if width > most), default=0)

    def add(
        self,
        error: float,
        plain: float,
        *,
        dtype: npt.DTypeLike = np.float64,
        single: float = 0.0,
        note: str = "",
        shape: Sequence[int] = (),
    ) -> bool:
        """Add a figure.

        Args:
            error: What the submission reached.
            plain: What plain code in ``dtype`` reached on the same input.
            dtype: The input's dtype.
            single: What plain float32 code reached; 0 where that excuses nothing.
            note: The shape and dtype.
            shape: (B, T, D).

        Returns:
            Whether it is within its own limit.
        """
        self.count += 1
        limit = calibrated(plain, dtype)
        self.off += [] if error <= limit else [error]
        if shape:
            self.seen.append((tuple(shape), bool(error <= max(limit, single_limit(single)))))
        worse = not error <= limit or error / limit > self.error / self.limit
        if self.count == 1 or (worse and not np.isnan(self.error)):
            self.error, self.limit, self.note = error, limit, note
            self.single = single_limit(single)
        return bool(error <= limit)


def counted(shape: Sequence[int]) -> dict[str, int]:
    """The sizes of (B, T, D) that an answer may hang on."""
    return dict(zip("BTD", shape, strict=True)) | {"B · T": shape[0] * shape[1]}


def halving(held: Iterable[Held]) -> Iterator[int]:
    """Where answers are wrong on wide rows alone: widths that halve those between right and wrong.

    Args:
        held: Figures, to which a draw of each width is added before the next one is asked for. The first that
            is wrong on wide rows of such a draw as well is narrowed.
    """
    for figures in held:
        if figures.wrong_widths is None:
            continue
        right, least, most, wider = figures.wrong_widths
        yield least
        if figures.seen[-1][1]:
            continue
        yield from _halved(figures, right, least)
        if wider:
            yield from _halved(figures, wider, most)
        else:
            yield from (most + 1, most + most // 4, 2 * most)
        return


def _halved(figures: Held, right: int, wrong: int) -> Iterator[int]:
    while abs(wrong - right) > 1:
        middle = (right + wrong) // 2
        yield middle
        right, wrong = (middle, wrong) if figures.seen[-1][1] else (right, middle)


def single_limit(plain: float) -> float:
    """The limit for float32 arithmetic where plain float32 code reaches ``plain``; 0 where that is 0."""
    return min(calibrated(plain, np.float32), _SINGLE_AT_MOST) if plain else 0.0


def hold(found: Findings, held: Held, **where: Any) -> bool:
    """Decide by the worst figure: within the limit, within float32's (a warning), or neither.

    Args:
        found: Where it is noted.
        held: The figures.
        where: ``file``, ``line``, ``note`` of the evidence.
    """
    where["note"] = "; ".join(part for part in (held.note, where.get("note", "")) if part)
    if held.error > held.limit and held.error <= held.single:
        where["note"] += f"; {coarse(held.error)}"
        return found.limit(held.quantity, held.error, held.limit, otherwise=Verdict.WARN, **where)
    return found.limit(held.quantity, held.error, held.limit, **where)
