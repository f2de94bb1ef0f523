"""Paged caches whose every call feeds the whole batch: no sequence comes or goes by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.pool import PoolSizes
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tolerance import relative_error

__all__ = ["fed_off", "orders"]

_SIZES = PoolSizes(batch=3, heads=2)


def orders(binding: Binding) -> Iterator[Binding]:
    """A call that names no sequence, under every axis order of a batch."""
    for layout in (binding.layout,) if binding.layout else ("BHND", "BNHD", "BHD"):
        yield replace(binding, layout=layout)


def _opened(worker: Worker, parts: Mapping[str, Binding], left: Callable[[], float]) -> Cached:
    return Cached(worker, parts, _SIZES, left)


def fed_off(
    worker: Worker,
    parts: Mapping[str, Binding],
    left: Callable[[], float],
    rng: np.random.Generator,
    pieces: tuple[int, ...],
) -> float:
    """Feed a batch in pieces; how far off what comes back is, relative, the worst of all sequences.

    Args:
        worker: Where the submission is.
        parts: Its bindings by part.
        left: Tells the seconds that remain.
        rng: Draws the numbers.
        pieces: Tokens of each call.

    Raises:
        Fault: What it did.
    """
    cached = _opened(worker, parts, left)
    shape = (_SIZES.batch, _SIZES.heads, sum(pieces), _SIZES.head_dim)
    q, k, v = (rng.standard_normal(shape).astype(np.float32) for _ in range(3))
    start, errors = 0, [0.0]
    for tokens in pieces:
        now = slice(start, start + tokens)
        out = cached.feed(q[:, :, now], k[:, :, now], v[:, :, now])
        start += tokens
        if cached.mode == "attend":
            last = slice(start - 1, start)
            errors.append(
                relative_error(out[:, :, -1:], attention(q[:, :, last], k[:, :, :start], v[:, :, :start]))
            )
    if cached.mode == "read":
        for b in range(_SIZES.batch):
            pairs = zip(cached.stored(b), (k[b : b + 1], v[b : b + 1]), strict=True)
            errors += [relative_error(got, fed.astype(float)) for got, fed in pairs]
    return float("nan") if np.isnan(errors).any() else max(errors)
