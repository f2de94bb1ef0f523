"""Where a layer holds its latent weights, and what they are by now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import parse_path
from judge_tui.checks.calling.remote import Handle, Steps
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.ternary_training.layer import Layer, Run
from judge_tui.checks.tasks.ternary_training.roles import FORWARD

__all__ = ["Held", "instance"]

Array = npt.NDArray[Any]

_WEIGHT = next(param for param in FORWARD.params if param.name == "weight")


def instance(run: Run) -> Handle:
    """The object whose forward was run."""
    assert run.returned.instance is not None
    return run.returned.instance


@dataclass(frozen=True, slots=True)
class Held:
    """The arrays of a layer, looked at after a forward."""

    layer: Layer

    def paths(self, run: Run) -> list[Steps]:
        """Where the layer holds its latent weights: where they were set, else what equals them, by name."""
        names = ("weight", "weight_t")
        told = [path for path, source in self.layer.binding.attributes.items() if source in names]
        if told:
            steps = [parse_path(f"self.{path}").steps for path in told]
            return [path for path in steps if _equal(self._at(run, path), run.weight)]
        found = self.equals(run, run.weight)
        return sorted(found, key=lambda path: not _WEIGHT.means(str(path[-1][1]).lstrip("_")))

    def equals(self, run: Run, value: Array) -> list[Steps]:
        """Parts of the layer that equal the latent weights (out, in), or the bias."""
        leaves = run.returned.worker.leaves(instance(run))
        whole = [leaf["path"] for leaf in leaves if int(np.prod(leaf.get("shape", (0,)))) == value.size]
        steps = [tuple((str(kind), key) for kind, key in path) for path in whole if path]
        return [path for path in steps if _equal(self._at(run, path, value.shape), value)]

    def moved(self, run: Run, paths: Sequence[Steps], before: Array) -> Array | None:
        """The latent weights after an update; what still equals the old ones may be a copy of them."""
        return next(iter(self.changed(run, paths, before)), None)

    def changed(self, run: Run, paths: Sequence[Steps], before: Array) -> list[Array]:
        """What stands by now in each place that held the latent weights, where that is no more the same."""
        now = [self._at(run, path) for path in paths]
        return [held for held in now if held is not None and not _equal(held, before)]

    def _at(self, run: Run, path: Steps, shape: tuple[int, ...] = ()) -> Array | None:
        """An array of the layer as it is now, by default of the weight's shape."""
        wanted = shape or run.weight.shape
        turned = self.layer.transposed and len(wanted) > 1
        part = instance(run).part(*path)
        try:
            held = run.returned.worker.fetch(part, wanted[::-1] if turned else wanted, loose=True)
        except Fault:
            return None
        return held.T if turned else held


def _equal(held: Array | None, value: Array) -> bool:
    return held is not None and bool(np.allclose(held, value, rtol=1e-6, atol=1e-9))
