"""A cache that is filled by a call that takes a whole prompt and cuts it into chunks by itself."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.kv.faces.axis_orders import from_wire, wire_shape
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.words.sizes import Sizes, mode
from judge_tui.checks.tolerance import relative_error

__all__ = ["ChunkFed"]

Array = npt.NDArray[Any]


class ChunkFed:
    """A cache, and the call that fills it in chunks.

    Args:
        worker: Where the submission is.
        bound: Role → binding.
        chunked: The call.
        sizes: What the cache is made for, and the tokens per chunk.
        left: Tells the seconds that remain.
    """

    def __init__(
        self, worker: Worker, bound: Mapping[str, Binding], chunked: Binding, sizes: Sizes,
        left: Callable[[], float],
    ) -> None:  # fmt: skip
        self.bound = bound
        self.chunked = chunked
        as_step = replace(chunked, role="step_many")
        kept = {name: bound[name] for name in ("create", "add") if name in bound and self.fills}
        self.cached = _Prompted(worker, {**kept, "step": as_step, "step_many": as_step}, sizes, left)

    @property
    def first(self) -> int:
        """The first row of the prompt that was answered."""
        return self.cached.first

    @property
    def fills(self) -> bool:
        """Whether the call has a cache to fill."""
        return bool(
            self.chunked.on == "cache" or self.chunked.takes("cache") or self.chunked.takes("cache_k")
        )

    def prompt(self, q: Array, k: Array, v: Array) -> Array | None:
        """Hand the prompt over.

        Args:
            q: (B, H, S, D).
            k: (B, G, S, D).
            v: As k.

        Returns:
            (B, H, S, D), NaN in rows that are not given; ``None`` when it answers nothing.
        """
        self.cached.nothing, self.cached.first = False, 0
        out = self.cached.feed(q, k, v)
        return None if self.cached.nothing else out

    def after(self) -> Cached | None:
        """The filled cache, to be used with the submission's other calls; ``None`` when there is none."""
        if not self.fills or not mode(self.bound):
            return None
        other = Cached.__new__(Cached)
        other.__dict__.update(copy.copy(self.cached).__dict__)
        other.bound, other.mode = self.bound, mode(self.bound)
        other.states, other.counts = list(self.cached.states), self.cached.counts.copy()
        return other

    def held_error(self, k: Array, v: Array) -> float:
        """How far what the cache gives back is from what it was fed; infinite when it cannot be read."""
        after = self.after()
        if after is None or "read" not in self.bound:
            return float("inf")
        errors = []
        for b in range(k.shape[0]):
            got = after.stored(b)
            errors += [
                relative_error(x, y[b : b + 1].astype(float)) for x, y in zip(got, (k, v), strict=True)
            ]
        return float(np.max(errors))


class _Prompted(Cached):
    """Answers come whole, as a list of chunks, as the last chunk or row alone, or not at all."""

    nothing, first = False, 0

    def _fetched(
        self,
        returned: Returned,
        role: Any,
        name: str,
        shape: tuple[int, ...],
        layout: str,
        counts: Array | None = None,
    ) -> Array:
        b, h, n, d = shape
        tree, root = returned.result.tree, returned.result.handle
        pieces, flat = _pieces(tree, root, layout), layout.replace("N", "")
        tokens = sum(size for _handle, size in pieces)
        listed = tree.get("kind") != "array" and tokens == n
        if pieces and (listed or (len(pieces) == 1 and tokens < n)):
            return self._behind(shape, [self._whole(each, (b, h, size, d), layout) for each, size in pieces])
        if n > 1 and tuple(tree.get("shape", ())) == wire_shape((b, h, 1, d), flat):
            # The last row alone, without its axis.
            return self._behind(shape, [self._whole(root, (b, h, 1, d), flat)])
        if not any(kind in ("array", "list") for kind in _kinds(tree)):
            self.nothing = True
            return np.full(shape, np.nan)
        try:
            return super()._fetched(returned, role, name, shape, layout, counts)
        except BadResult:
            if not returned.binding.takes("q"):
                self.nothing = True
                return np.full(shape, np.nan)
            raise

    def _behind(self, shape: tuple[int, ...], parts: list[Array]) -> Array:
        """The last rows of an answer, with NaN in front of them."""
        out, last = np.full(shape, np.nan), np.concatenate(parts, axis=2)
        self.first = shape[2] - last.shape[2]
        out[:, :, self.first :] = last
        return out

    def inputs(self, b: int | None, counts: Array, queries: int = 0) -> dict[str, Any]:
        inputs = super().inputs(b, counts, queries)
        return {**inputs, "chunks": max(1, -(-int(counts.max()) // self.sizes.chunk))}

    def _whole(self, handle: Handle, shape: tuple[int, ...], layout: str) -> Array:
        return from_wire(self.worker.fetch(handle, wire_shape(shape, layout)), shape, layout)


def _pieces(tree: Mapping[str, Any], root: Handle, layout: str) -> list[tuple[Handle, int]]:
    """Arrays of the result with the tokens that each holds; an array alone is one piece."""
    axis = layout.index("N")
    if tree.get("kind") == "array":
        listed = [(root, tree)]
    elif tree.get("kind") in ("list", "tuple"):
        listed = [(root.part((step, key)), below) for step, key, below in tree.get("parts", ())]
    else:
        return []
    told = [(handle, below.get("shape", ())) for handle, below in listed if below.get("kind") == "array"]
    return [(handle, int(shape[axis])) for handle, shape in told if len(shape) == len(layout)]


def _kinds(tree: Mapping[str, Any]) -> list[str]:
    """Kinds of a result and of its parts, two deep; what a cache holds is no answer."""
    parts = [below for _step, _key, below in tree.get("parts", ())]
    if tree.get("kind") == "object":
        return ["object"]
    return [str(tree.get("kind")), *(str(below.get("kind")) for below in parts)]
