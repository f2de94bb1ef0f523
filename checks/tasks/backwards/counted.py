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

__all__ = ["miscounted", "wrong_places"]

Array = npt.NDArray[Any]
#: Shapes that are read, calls of one and of all, and entries of an array.
_SHAPES, _CALLS, _CALLS_IN_ALL, _ENTRIES = 4, 24, 120, 500_000
#: How much longer than a wrong draw others are, so that one rule alone fits all.
_LONGER = (0, 3, 12, 29)
_DRAWS = 6
_SAME, _ROUGH = 1e-6, 1e-6
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
    for at, shape in enumerate((B, T + more, D) for B, T, D in several for more in _LONGER):
        rows = shape[0] * shape[1]
        calls += min(-(-rows // shape[2]), _CALLS) + 1
        if rows < 2 or calls > _CALLS_IN_ALL or rows * shape[2] > _ENTRIES:
            continue
        try:
            counts = _counts(bench, name, draw(bench.rng("counted", at), shape, eps_of(bench, 1e-5)))
        except Fault:
            return ""
        if counts is None:
            return ""
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
    return (
        _one_by_one(bench, name, batch, weight)
        if B * T <= _CALLS * D
        else _by_codes(bench, name, batch, weight)
    )


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


def _by_codes(bench: Bench, name: str, batch: Batch, weight: Array) -> Array | None:
    """One stretch of rows that is left out or counted twice: its sums of 1, r and r² say where it is."""
    rows, D = weight.shape
    if D < 3:
        return None
    codes = (np.arange(rows)[:, None] / rows) ** np.arange(3)
    clear = np.abs(weight[:, :3]) > _LEAST
    dy = np.zeros((rows, D))
    dy[:, :3] = np.where(clear, codes / np.where(clear, weight[:, :3], 1.0), 0.0)
    codes = np.where(clear, codes, 0.0)
    off = _gradient(bench, name, replace(batch, dy=dy.reshape(batch.shape)))[:3] - codes.sum(axis=0)
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
        if all(np.abs(counts - given(*shape)).max() <= _SAME for shape, counts in found):
            return f"it is {words}"
    integers = [one.value for one in bench.integers]
    for times, words in ((0, "leaves out"), (2, "counts twice")):
        sets = [np.abs(counts - times) <= _SAME for _, counts in found]
        if all(np.abs(counts[~rows] - 1.0).max(initial=0.0) <= _SAME for (_, counts), rows in
               zip(found, sets, strict=True)):  # fmt: skip
            shapes = [shape for shape, _ in found]
            told = places_told(sets, "rows", integers) or _by_axis(shapes, sets, integers)
            many = f"{int(sets[0].sum())} of {len(sets[0])} rows"
            return f"it {words} {f'{told} ({many})' if told else many}"
    return ""


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
        if not zero and (moved := _moved(made, truth)):
            return moved
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


def _moved(made: Array, truth: Array) -> str:
    """Whether rows hold what belongs to other rows."""
    given, wanted = (each.reshape(-1, each.shape[-1]) for each in (made, truth))
    far = np.abs(given[:, None] - wanted[None]).max(axis=-1)
    near = far <= _SAME * np.maximum(np.abs(wanted).max(axis=-1), 1e-300)
    if not near.any(axis=1).all() or near.diagonal().all() or given.shape[1] < 3:
        return ""
    first = int(np.argmin(near.diagonal()))
    other = int(np.argmax(near[first]))
    return f"rows hold what belongs to others: row {first} of {len(given)} that of row {other}"


def _of_small_rows(rows: Sequence[Array], shares: Sequence[Array]) -> str:
    """Whether rows of small variance alone are wrong."""
    wrong = np.concatenate([share[off] for off, share in zip(rows, shares, strict=True)])
    right = np.concatenate([share[~off] for off, share in zip(rows, shares, strict=True)])
    if len(wrong) < 3 or len(right) < 3 or wrong.max() >= right.min():
        return ""
    return f"wrong in rows whose variance is {wrong.max():.2g} · eps or less alone"
