"""The weights of a decoder, as far as its arrays can be reached: counted, drawn anew, set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.faults import BadResult, Raised

__all__ = ["Weight", "count_with", "drawn_anew", "rounded_anew", "weights"]

Array = npt.NDArray[Any]
Path = tuple[tuple[str, Any], ...]
_SETS = {"a": "__setattr__", "k": "__setitem__", "i": "__setitem__"}


@dataclass(frozen=True, slots=True)
class Weight:
    """An array of a model.

    Attributes:
        path: Where it is.
        shape: Its shape.
        dtype: Its dtype.
        handle: The array itself.
    """

    path: Path
    shape: tuple[int, ...]
    dtype: str
    handle: Handle

    @property
    def name(self) -> str:
        """Its path in words."""
        return ".".join(str(key) for _kind, key in self.path) or "the model itself"

    def fetched(self, worker: Worker) -> Array:
        """Its values, float64."""
        return worker.fetch(self.handle, self.shape)


def weights(worker: Worker, model: Handle | None) -> list[Weight]:
    """The floating-point arrays of a model that was just made; one without elements is a cache to be."""
    if model is None:
        return []
    found = []
    for leaf in worker.leaves(model):
        shape = tuple(int(n) for n in leaf.get("shape", ()))
        floating = leaf.get("kind") == "array" and str(leaf.get("dtype", "")).startswith("float")
        if floating and shape and 0 not in shape:
            path = tuple((str(kind), key) for kind, key in leaf["path"])
            found.append(Weight(path, shape, str(leaf["dtype"]), model.part(*path)))
    return found


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


def drawn_anew(worker: Worker, listed: Sequence[Weight], seed: int) -> int:
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
        values = weight.fetched(worker)
        spread = float(np.std(values)) if np.isfinite(values).all() else 0.0
        new = rng.standard_normal(weight.shape)
        if spread > 0.0:
            worker.fill(weight.handle, (spread * new).astype(weight.dtype))
            changed += 1
    return changed


def rounded_anew(worker: Worker, listed: Sequence[Weight], seed: int) -> None:
    """Change weights in place by about a unit in their last place, as other roundings on the way would."""
    rng = np.random.default_rng(seed)
    for weight in listed:
        values, unit = weight.fetched(worker), float(np.finfo(weight.dtype).eps)
        changed = values * (1 + unit * rng.uniform(-1, 1, weight.shape))
        worker.fill(weight.handle, changed.astype(weight.dtype))
