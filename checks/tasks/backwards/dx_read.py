"""What a wrong dx is made of: dx = rstd · (g − mean(g) − x̂ · mean(g·x̂)) row by row, each number read off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.other_rows import which_rows
from judge_tui.checks.tasks.backwards.passes import backward, draw, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch
from judge_tui.checks.tasks.backwards.rstd_read import wrong_rstd
from judge_tui.checks.tasks.backwards.statistics_read import Rows, fitting, lengths_of, means, near, telling

__all__ = ["wrong_terms"]

Array = npt.NDArray[np.float64]
_SAME, _ROUGH = 1e-7, 1e-5
#: Features of a row at least, of which three numbers are read.
_FEATURES = 6


@dataclass(frozen=True, slots=True)
class _Terms:
    """The numbers of each row.

    Attributes:
        g: (R, D) dy · gamma.
        xhat: (R, D).
        rstd: (R,) the right one.
        made: (3, R) what multiplies g, and what stands for mean(g) and for mean(g·x̂).
        sizes: B and T.
        batch: The draw.
    """

    g: Array
    xhat: Array
    rstd: Array
    made: Array
    sizes: tuple[int, int]
    batch: Batch


def wrong_terms(bench: Bench, shapes: Sequence[tuple[int, ...]], *, known: bool = False) -> str:
    """Which number of dx is another than it should be, and what it is, as a clause.

    Args:
        bench: Where it is judged.
        shapes: (B, T, D) of draws in which dx was wrong.
        known: Whether nothing is told where it is not known what a number is.

    Returns:
        Empty where dx of a row is no sum of g, 1 and x̂, or where nothing is known.
    """
    read: list[_Terms] = []
    for at, shape in enumerate(telling([s for s in shapes if s[2] >= _FEATURES])):
        batch = draw(bench.rng("terms", at), shape, eps_of(bench, 1e-3))  # type: ignore[arg-type]
        try:
            terms = _of(batch, backward(bench, forward(bench, batch)).dx)
        except Fault:
            return ""
        if terms is None:
            return ""
        read.append(terms)
    with np.errstate(all="ignore"):
        return _told(read, lengths_of(bench), known) if read else ""


def _of(batch: Batch, dx: Array) -> _Terms | None:
    row = reference.statistics(batch)
    g, xhat, made = (a.reshape(-1, batch.width) for a in (batch.dy * batch.gamma, row.xhat, dx))
    basis = np.stack([g, np.ones_like(g), xhat], axis=-1)
    with np.errstate(all="ignore"):
        if not np.isfinite(made).all():
            return None
        numbers = np.linalg.pinv(basis) @ made[..., None]
        off = np.abs(basis @ numbers - made[..., None]).max(axis=(1, 2))
        if not (off <= _SAME * np.abs(made).max(axis=-1)).all():
            return None
        scale, less, along = numbers[..., 0].T
        return _Terms(
            g,
            xhat,
            row.rstd.ravel(),
            np.stack([scale, -less / scale, -along / scale]),
            (batch.shape[0], batch.shape[1]),
            batch,
        )


def _told(read: Sequence[_Terms], integers: tuple[int, ...], known: bool) -> str:
    parts = [
        ("rstd", 0, [each.rstd[:, None] for each in read]),
        ("mean(g)", 1, [each.g for each in read]),
        ("mean(g·x̂)", 2, [each.g * each.xhat for each in read]),
    ]
    if known_rstd := wrong_rstd([each.batch for each in read], [each.made[0] for each in read]):
        return f"in dx {known_rstd}{_beside_rstd(read)}"
    told = []
    for name, at, values in parts:
        given = [
            Rows(x, 0.0, each.made[at], each.made[at], integers) for x, each in zip(values, read, strict=True)
        ]
        if all(near(one.mean, one.x.mean(axis=-1), one) for one in given):
            continue
        words = _of_several_rows(given)
        if not words and name != "rstd":
            words = _by_size(given, [each.sizes for each in read])
            words = words or next(fitting(given, means(given), lambda one: one.mean), "")
        told.append((name, words))
    if len(told) == len(parts) or (known and not all(words for _, words in told)):
        return ""
    return "; ".join(f"in dx {name} is {words or 'another than it should be'}" for name, words in told)


def _beside_rstd(read: Sequence[_Terms]) -> str:
    """Whether x̂ is made of the same wrong rstd, which mean(g·x̂) has twice then."""
    ratios = [(each.made[2] / (each.g * each.xhat).mean(axis=-1), each.made[0] / each.rstd) for each in read]
    if all((np.abs(along - scale**2) <= _ROUGH * scale**2).all() for along, scale in ratios):
        return ", in x̂ as well"
    right = all((np.abs(along - 1.0) <= _ROUGH).all() for along, _ in ratios)
    return ", outside of x̂ alone" if right else ""


def _by_size(given: Sequence[Rows], sizes: Sequence[tuple[int, int]]) -> str:
    """Whether sums are divided by B, T or both in place of D."""
    for words, b, t in (("B", 1, 0), ("T", 0, 1), ("B · T", 1, 1)):
        counts = [batch**b * length**t for batch, length in sizes]
        if all(near(one.mean, one.x.sum(-1) / count, one) for one, count in zip(given, counts, strict=True)):
            return f"its sum over {words}, not over D"
    return ""


def _of_several_rows(given: Sequence[Rows]) -> str:
    """Whether numbers are those of other rows, or of blocks of rows together."""
    one = max(given, key=lambda rows: len(rows.x))
    right, made = one.x.mean(axis=-1), one.mean
    size = np.abs(right).max()
    for unit in range(2, len(right) + 1):
        starts = np.arange(0, len(right), unit)
        blocks = np.repeat(np.add.reduceat(right, starts), unit)[: len(right)]
        count = np.repeat(np.diff([*starts, len(right)]), unit)[: len(right)]
        if (np.abs(blocks / count - made) <= _SAME * size).all():
            return (
                f"that of blocks of {unit} rows together"
                if unit < len(right)
                else "that of all rows together"
            )
    same = np.abs(made[:, None] - right) <= _SAME * size
    if len(made) < 3 or not same.any(axis=1).all() or same.diagonal().all():
        return ""
    return f"that of {which_rows(same)}"
