"""Paged caches whose every call feeds the whole batch: no sequence comes or goes by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.fed import Fed
from judge_tui.checks.tasks.kv.faces.pool import PoolSizes

__all__ = ["fed_off", "orders"]

_SIZES = PoolSizes(batch=3, heads=2)


def orders(binding: Binding) -> Iterator[Binding]:
    """A call that names no sequence, under every axis order of a batch."""
    for layout in (binding.layout,) if binding.layout else ("BHND", "BNHD", "BHD"):
        yield replace(binding, layout=layout)


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
    fed = Fed.of(Cached(worker, parts, _SIZES, left), rng, 0)
    errors = [fed.at_once(rng, tokens) for tokens in pieces]
    return float(np.max([*errors, fed.kept() if fed.cached.mode == "read" else 0.0]))
