"""How often each row counts in dgamma and dbeta, read off with an upstream gradient of one row at a time.

dbeta is Σ dy and dgamma Σ dy·x̂ over all rows: with dy of 1 at one place of a row and 0 elsewhere each shows
how often the row counts, one row for each feature in a call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.index_sets import places_told
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.passes import backward, draw, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch

__all__ = ["miscounted", "places_exchanged", "wrong_places"]

Array = npt.NDArray[Any]
#: Shapes that are read, calls of one and of all, and entries of an array.
_SHAPES, _CALLS, _CALLS_IN_ALL, _ENTRIES = 4, 24, 120, 500_000
#: How much longer than a wrong draw others are, so that one rule alone fits all.
_LONGER = (0, 3, 12, 29)
_DRAWS = 6
#: The most different counts that are told.
_MOST_COUNTS = 3
#: The most numbers whose places are compared.
_MOST_EXCHANGED = 20_000
_SAME, _ROUGH = 1e-6, 1e-6
#: Rows that one number tells of, where each counts three times at most.
_PACKED = 16
#: x̂ below this says nothing of how often its row counts.
_LEAST = 1e-3

#: How dgamma or dbeta may be divided; of B, T and D.
_DIVIDED: dict[str, Callable[[int, int, int], float]] = {
    "a mean over B and T, not a sum": lambda B, T, D: 1.0 / (B * T),
    "divided by B": lambda B, T, D: 1.0 / B,
    "divided by T": lambda B, T, D: 1.0 / T,
    "divided by D": lambda B, T, D: 1.0 / D,
    "multiplied by B": lambda B, T, D: float(B),
    "multiplied by T": lambda B, T, D: float(T),
}


def miscounted(bench: Bench, name: str, shapes: Sequence[tuple[int, ...]]) -> str:
    """Rows that a gradient leaves out or counts twice, as a clause; empty where it is not about that.

    Args:
        bench: Where it is judged.
        name: ``dgamma`` or ``dbeta``.
        shapes: (B, T, D) of draws that were wrong.
    """
    found: list[tuple[tuple[int, ...], Array]] = []
    calls = 0
    several = sorted(set(shapes), key=lambda s: -(-s[0] * s[1] // s[2]))
    for at, shape in enumerate(
        (B + at, T + more, D) for B, T, D in several for at, more in enumerate(_LONGER)
    ):
        rows = shape[0] * shape[1]
        calls += min(-(-rows // shape[2]), _CALLS) + 3
        if rows < 2 or calls > _CALLS_IN_ALL or rows * shape[2] > _ENTRIES:
            continue
        try:
            counts = _counts(bench, name, draw(bench.rng("counted", at), shape, eps_of(bench, 1e-5)))
        except Fault:
            return ""
        if counts is None:
            continue
        if np.abs(counts - 1.0).max() > _SAME:
            found.append((shape, counts))
        if len(found) == _SHAPES:
            break
    return _told(bench, found) if found else ""


def _counts(bench: Bench, name: str, batch: Batch) -> Array | None:
    """How often each row counts (B·T,); ``None`` where the gradient is no such sum."""
    B, T, D = batch.shape
    xhat = reference.statistics(batch).xhat.reshape(B * T, D)
    weight = xhat if name == "dgamma" else np.ones_like(xhat)
    if B * T <= _CALLS * D:
        return _one_by_one(bench, name, batch, weight)
    counts = _packed(bench, name, batch, weight) if B * T <= _CALLS * D * _PACKED else None
    return _by_codes(bench, name, batch, weight) if counts is None else counts


def _one_by_one(bench: Bench, name: str, batch: Batch, weight: Array) -> Array | None:
    rows, D = weight.shape
    counts = np.full(rows, np.nan)
    for start in range(0, rows, D):
        which = np.arange(start, min(start + D, rows))
        dy = np.zeros((rows, D))
        dy[which, which - start] = 1.0
        given = _gradient(bench, name, replace(batch, dy=dy.reshape(batch.shape)))
        clear = np.abs(weight[which, which - start]) > _LEAST
        told = given[which - start] / np.where(clear, weight[which, which - start], 1.0)
        counts[which] = np.where(clear, told, np.nan)
    counts = np.where(np.isnan(counts), np.nanmedian(counts), counts)
    return counts if _fits(bench, name, batch, weight, counts) else None


def _packed(bench: Bench, name: str, batch: Batch, weight: Array) -> Array | None:
    """Several rows for each feature in a call, each with a digit of its own in base four."""
    rows, D = weight.shape
    counts = np.full(rows, np.nan)
    for start in range(0, rows, D * _PACKED):
        which = np.arange(start, min(start + D * _PACKED, rows))
        feature, digit = (which - start) % D, (which - start) // D
        beside = weight[which, feature]
        clear = np.abs(beside) > _LEAST
        dy = np.zeros((rows, D))
        dy[which, feature] = np.where(clear, 4.0**digit / np.where(clear, beside, 1.0), 0.0)
        given = np.round(_gradient(bench, name, replace(batch, dy=dy.reshape(batch.shape))))
        if not (np.isfinite(given) & (given >= 0)).all():
            return None
        counts[which] = np.where(clear, given[feature] // 4.0**digit % 4.0, np.nan)
    counts = np.where(np.isnan(counts), 1.0, counts)
    return counts if _fits(bench, name, batch, weight, counts) else None


def _by_codes(bench: Bench, name: str, batch: Batch, weight: Array) -> Array | None:
    """One stretch of rows that is left out or counted twice: its sums of 1, r and r² say where it is."""
    rows, D = weight.shape
    codes = (np.arange(rows)[:, None] / rows) ** np.arange(3)
    clear, off = np.zeros((rows, 3), dtype=bool), np.zeros(3)
    for start in range(0, 3, D):
        which = np.arange(start, min(start + D, 3))
        beside = weight[:, which - start]
        clear[:, which] = np.abs(beside) > _LEAST
        dy = np.zeros((rows, D))
        dy[:, which - start] = np.where(
            clear[:, which], codes[:, which] / np.where(beside == 0, 1, beside), 0
        )
        codes[:, which] *= clear[:, which]
        given = _gradient(bench, name, replace(batch, dy=dy.reshape(batch.shape)))[which - start]
        off[which] = given - codes[:, which].sum(axis=0)
    sums = np.concatenate([np.zeros((1, 3)), np.cumsum(codes, axis=0)])
    times = 1.0 if off[0] > 0 else -1.0
    ends = np.searchsorted(sums[:, 0], sums[:, 0] + times * off[0] - 0.5)
    inside = np.flatnonzero(ends <= rows)
    if not len(inside):
        return None
    error = np.abs(sums[ends[inside]] - sums[inside] - times * off).max(axis=1)
    best = int(inside[np.argmin(error)])
    counts = np.ones(rows)
    counts[best : ends[best]] += times
    return counts if _fits(bench, name, batch, weight, counts) else None


def _fits(bench: Bench, name: str, batch: Batch, weight: Array, counts: Array) -> bool:
    """Whether a gradient of any dy is the sum of rows that count so often."""
    expected = (counts[:, None] * batch.dy.reshape(weight.shape) * weight).sum(axis=0)
    given = _gradient(bench, name, batch)
    size = np.linalg.norm(expected) + np.linalg.norm(given) + 1e-300
    return bool(np.linalg.norm(given - expected) <= _ROUGH * size)


def _gradient(bench: Bench, name: str, batch: Batch) -> Array:
    return np.asarray(getattr(backward(bench, forward(bench, batch)), name), dtype=np.float64)


def _told(bench: Bench, found: Sequence[tuple[tuple[int, ...], Array]]) -> str:
    for words, given in _DIVIDED.items():
        if len({given(*shape) for shape, _ in found}) > 1 and all(
            np.abs(counts - given(*shape)).max() <= _SAME for shape, counts in found
        ):
            return f"it is {words}"
    values = np.concatenate([counts for _, counts in found])
    if np.ptp(values) <= _SAME * np.abs(values).max():
        return f"it is {values[0]:.4g} times what it should be"
    integers = [one.value for one in bench.integers]
    for times, words in ((0, "leaves out"), (2, "counts twice")):
        sets = [np.abs(counts - times) <= _SAME for _, counts in found]
        if all(np.abs(counts[~rows] - 1.0).max(initial=0.0) <= _SAME for (_, counts), rows in
               zip(found, sets, strict=True)):  # fmt: skip
            shapes = [shape for shape, _ in found]
            told = places_told(sets, "rows", integers) or _by_axis(shapes, sets, integers)
            many = f"{int(sets[0].sum())} of {len(sets[0])} rows"
            return f"it {words} {f'{told} ({many})' if told else many}"
    return _other_counts(found)


def _other_counts(found: Sequence[tuple[tuple[int, ...], Array]]) -> str:
    """Rows that count neither 0, 1 nor 2 times, of the first draw."""
    shape, counts = found[0]
    odd = np.flatnonzero(np.abs(counts - 1.0) > _SAME)
    times = sorted({f"{count:.3g}" for count in counts[odd]})
    if len(times) > _MOST_COUNTS:
        return ""
    first = f"row {odd[0]} of {shape[0] * shape[1]} first"
    return f"rows count {' or '.join(times)} times in it ({len(odd)} of {len(counts)} rows, {first})"


def _by_axis(shapes: Sequence[tuple[int, ...]], sets: Sequence[Array], integers: Sequence[int]) -> str:
    """The same by batch entry, or by place within an entry."""
    grids = [rows.reshape(shape[:2]) for shape, rows in zip(shapes, sets, strict=True)]
    if all((grid == grid[:, :1]).all() for grid in grids):
        return places_told([grid[:, 0] for grid in grids], "batch entries", integers)
    if all((grid == grid[:1]).all() for grid in grids):
        told = places_told([grid[0] for grid in grids], "places", integers)
        return f"{told} of every batch entry" if told else ""
    return ""


def wrong_places(bench: Bench, shapes: Sequence[tuple[int, ...]], *, of_y: bool = False) -> str:
    """Rows or features in which dx or y is wrong, where it is not wrong in all.

    Args:
        bench: Where it is judged.
        shapes: (B, T, D) of draws that were wrong.
        of_y: Whether y is looked at.
    """
    if moved := places_exchanged(bench, shapes, of_y=of_y):
        return moved
    rows: list[Array] = []
    features: list[Array] = []
    shares: list[Array] = []
    zero = True
    small = sorted({shape for shape in shapes if np.prod(shape) <= _ENTRIES}, key=lambda s: int(np.prod(s)))
    for at, shape in enumerate(small[:_DRAWS]):
        batch = draw(bench.rng("places", at), shape, eps_of(bench, 1e-5))  # type: ignore[arg-type]
        try:
            run = forward(bench, batch)
            made = run.y if of_y else backward(bench, run).dx
        except Fault:
            return ""
        truth = reference.forward(batch) if of_y else reference.gradients(batch).dx
        zero = zero and not made.any()
        with np.errstate(invalid="ignore"):
            size = np.abs(truth).max(axis=-1, keepdims=True)
            off = ~(np.abs(made - truth) <= _SAME * np.where(size > 0, size, 1.0))
        if off.any():
            rows.append(off.any(axis=-1).ravel())
            features.append(off.any(axis=(0, 1)))
            shares.append((reference.statistics(batch).var / batch.eps).ravel())
    if rows and zero:
        return "it is 0"
    if rows and (told := _of_small_rows(rows, shares)):
        return told
    integers = [one.value for one in bench.integers]
    for sets, what in ((rows, "rows"), (features, "features")):
        if told := places_told(sets, what, integers):
            return f"wrong in {told} alone"
    return ""


def places_exchanged(bench: Bench, shapes: Sequence[tuple[int, ...]], *, of_y: bool = False) -> str:
    """Whether rows or features of dx, or of y, hold what belongs to others, as a clause.

    Args:
        bench: Where it is judged.
        shapes: (B, T, D) of draws that were wrong.
        of_y: Whether y is looked at.
    """
    telling = [s for s in shapes if s[0] * s[1] > 2 and s[2] > 2 and np.prod(s) <= _MOST_EXCHANGED]
    for shape in sorted(telling, key=lambda s: int(np.prod(s)))[:1]:
        batch = draw(bench.rng("exchanged"), shape, eps_of(bench, 1e-5))  # type: ignore[arg-type]
        try:
            run = forward(bench, batch)
            made = run.y if of_y else backward(bench, run).dx
        except Fault:
            return ""
        return _moved(made, reference.forward(batch) if of_y else reference.gradients(batch).dx)
    return ""


def _moved(made: Array, truth: Array) -> str:
    """Whether rows, or features, hold what belongs to others."""
    given, wanted = (each.reshape(-1, each.shape[-1]) for each in (made, truth))
    for one, other, what in ((given, wanted, "row"), (given.T, wanted.T, "feature")):
        if one.shape[1] < 3:
            continue
        far = np.abs(one[:, None] - other[None]).max(axis=-1)
        near = far <= _SAME * np.maximum(np.abs(other).max(axis=-1), 1e-300)
        if not near.any(axis=1).all() or near.diagonal().all():
            continue
        if near[:, ::-1].diagonal().all():
            return f"{what}s come back in reverse order"
        first = int(np.argmin(near.diagonal()))
        told = f"{what} {first} of {len(one)} that of {what} {int(np.argmax(near[first]))}"
        return f"{what}s hold what belongs to others: {told}"
    return ""


def _of_small_rows(rows: Sequence[Array], shares: Sequence[Array]) -> str:
    """Whether rows of small variance alone are wrong."""
    wrong = np.concatenate([share[off] for off, share in zip(rows, shares, strict=True)])
    right = np.concatenate([share[~off] for off, share in zip(rows, shares, strict=True)])
    if len(wrong) < 3 or len(right) < 3 or wrong.max() >= right.min():
        return ""
    return f"wrong in rows whose variance is {wrong.max():.2g} · eps or less alone"
