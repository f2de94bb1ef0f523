"""Probabilities whose logits, or whose sum, were rounded to half precision on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.asking import LIMIT, Asked

__all__ = ["rounded"]

Floats = npt.NDArray[np.float64]
#: Rows that are looked at, how many must show a sum of 11 bits or of a few more, and logits of each.
_ROWS, _LEAST, _MANY, _MOST, _LONGEST = 16, 3, 6, 0.8, 60_000
#: What float32 costs a probability, and by how much rounding must move entries against each other.
_SAME, _MOVED = 3e-6, 1e-4
_KNOWN = 1e-30


def rounded(wrong: Sequence[Asked]) -> str:
    """What is rounded in wrong probabilities of right indices, as a clause; empty where nothing is.

    Args:
        wrong: Answers.
    """
    rows = [row for each in wrong for row in _rows(each)][:_ROWS]
    for name, cut in _FORMATS.items():
        if rows and all(_logits_are(cut, *row) for row in rows):
            return f"the logits are rounded to {name} before exp"
    sums = [seen for row in rows if (seen := _sum(*row)) is not None]
    if len(sums) < _LEAST or len(sums) < len(rows):
        return ""
    for name, cut in _FORMATS.items():
        if all(abs(cut(np.array([seen]))[0] / seen - 1) <= _SAME for seen in sums):
            return f"the sum of exponentials is kept in {name}"
    short = [abs(_thirteen_bits(seen) / seen - 1) <= _SAME / 3 for seen in sums]
    # parts of very different size have more bits together
    if len(sums) >= _MANY and sum(short) >= _MOST * len(sums):
        return "the sum of exponentials is added up in float16: it has hardly more than 11 bits"
    return ""


def _thirteen_bits(value: float) -> float:
    """What a few numbers of half precision may add up to."""
    part, exponent = np.frexp(value)
    return float(np.ldexp(np.round(part * 8192) / 8192, exponent))


def _rows(asked: Asked) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Wrong rows: their logits, those that were chosen, and the logarithms of what came for them."""
    known, read, logits = asked.compared, asked.read, asked.question.logits
    if known is None or read is None or logits.shape[1] > _LONGEST:
        return
    for row in np.flatnonzero(known.chosen & (known.error > LIMIT)):
        given = read.probabilities[row].astype(np.float64)
        told = np.isfinite(given) & (given > _KNOWN) & (read.indices[row] >= 0)
        if told.any():
            wide = logits[row].astype(np.float64)
            yield wide, wide[read.indices[row][told]], np.log(given[told])


def _logits_are(cut: Callable[[Floats], Floats], _row: Floats, picked: Floats, logs: Floats) -> bool:
    """Whether entries lie apart as their rounded logits do, and not as they do themselves."""
    if len(picked) < _LEAST:
        return False
    with np.errstate(over="ignore"):
        short = cut(picked)
    moved = (short - short[0]) - (picked - picked[0])
    off = (logs - logs[0]) - (picked - picked[0])
    return bool(np.abs(moved).max() > _MOVED and np.abs(off - moved).max() <= 10 * _SAME)


def _sum(row: Floats, picked: Floats, logs: Floats) -> float | None:
    """The sum below the row's maximum that all entries were divided by."""
    seen = np.exp(picked - row.max() - logs)
    if np.ptp(seen) > 10 * _SAME * seen[0] or not np.isfinite(seen).all():
        return None
    return float(np.median(seen))


def _bfloat16(values: Floats) -> Floats:
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)


def _float16(values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(np.float64)


_FORMATS: dict[str, Callable[[Floats], Floats]] = {"float16": _float16, "bfloat16": _bfloat16}
