"""The weights of a decoder, as far as its arrays can be reached: counted, drawn anew, set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.faces.leaves import Leaf, leaves

__all__ = ["count_with", "drawn_anew", "rounded_anew", "weights"]

_SETS = {"a": "__setattr__", "k": "__setitem__", "i": "__setitem__"}


def weights(worker: Worker, model: Handle | None) -> list[Leaf]:
    """The floating-point arrays of a model that was just made; one without elements is a cache to be."""
    return [] if model is None else [leaf for leaf in leaves(worker, model) if leaf.floats]


def count_with(worker: Worker, model: Handle | None) -> None:
    """Put counting arrays in the place of a model's own, so that products among them are counted.

    Arrays in tuples and in frozen objects stay as they are.
    """
    for weight in weights(worker, model):
        if not weight.path or model is None or weight.path[-1][0] not in _SETS:
            continue
        *above, (kind, key) = weight.path
        try:
            worker.call(model.part(*above), [key, weight.handle], method=_SETS[kind], count=True)
        except (Raised, BadResult):
            continue


def drawn_anew(worker: Worker, listed: Sequence[Leaf], seed: int) -> int:
    """Overwrite weights in place with normal values of their own spread; constants and masks stay.

    Args:
        worker: Where they are.
        listed: What is overwritten.
        seed: The same seed draws the same values for the same list.

    Returns:
        How many were overwritten.
    """
    rng, changed = np.random.default_rng(seed), 0
    for weight in listed:
        new = rng.standard_normal(weight.shape)
        try:
            values = weight.fetched(worker)
        except BadResult:
            # a page of a cache, in a list that pages leave
            continue
        spread = float(np.std(values)) if np.isfinite(values).all() else 0.0
        if spread > 0.0:
            worker.fill(weight.handle, (spread * new).astype(weight.dtype))
            changed += 1
    return changed


def rounded_anew(worker: Worker, listed: Sequence[Leaf], seed: int) -> None:
    """Change weights in place by about a unit in their last place, as other roundings on the way would."""
    rng = np.random.default_rng(seed)
    for weight in listed:
        values, unit = weight.fetched(worker), float(np.finfo(weight.dtype).eps)
        changed = values * (1 + unit * rng.uniform(-1, 1, weight.shape))
        worker.fill(weight.handle, changed.astype(weight.dtype))
