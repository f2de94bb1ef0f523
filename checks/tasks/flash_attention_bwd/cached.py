"""The entries of what the forward hands to the backward, each with what it holds, by its numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Source
from judge_tui.checks.calling.calls import construct
from judge_tui.checks.calling.remote import Handle, Steps
from judge_tui.checks.faults import Fault, Skipped
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention, Run
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, logsumexp

__all__ = ["Entry", "carried", "entries", "known", "tiled"]

_MOST = 400
_LARGEST = 1_000_000
_CLOSE = 1e-4


@dataclass(frozen=True, slots=True)
class Entry:
    """One array or scalar that the forward hands on.

    Attributes:
        handle: Name of the handle that it is part of: ``cache``, ``L``, ``O`` or ``layer``.
        path: Where in it.
        kind: ``array``, ``list``, ``scalar``, ``int``, ``float``, ``bool`` or ``none``.
        shape: Of an array.
        nbytes: Of an array.
        alias: Inputs (and ``O``) whose memory it is.
        twin: Index of an earlier entry whose memory it is.
        value: Its numbers; ``None`` where they could not be fetched.
        what: What its numbers are: ``Q``, ``O``, ``L``, ``m``, …; empty when they match nothing.
        piece: Whether it is one tile of that, and the others stand beside it.
    """

    handle: str
    path: Steps
    kind: str
    shape: tuple[int, ...]
    nbytes: int
    alias: tuple[str, ...]
    twin: int | None
    value: Array | None
    what: str = ""
    piece: bool = False

    @property
    def site(self) -> tuple[object, ...]:
        """Where it is, whatever its indices: the same for what stands at one place of several tiles."""
        return self.handle, *((kind, "" if isinstance(key, int) else key) for kind, key in self.path)

    @property
    def sized(self) -> bool:
        """Whether it is an array of more than one number."""
        return self.kind in ("array", "list") and int(np.prod(self.shape)) > 1


def carried(attention: Attention, run: Run) -> dict[str, Handle]:
    """What the forward hands on, by name: what the backward takes, and a cache that nobody takes.

    Raises:
        Skipped: Nothing that a forward gave is handed to the backward.
    """
    names = attention.carrier
    if not names:
        raise Skipped("nothing that its forward gives is handed to its backward: the cache cannot be reached")
    return {name: run.returned.handle(name) for name in names}


def entries(attention: Attention, run: Run) -> list[Entry]:
    """Entries of all that is handed on, without what an object already had before the forward.

    Raises:
        Skipped: Its parts cannot be reached.
    """
    worker, problem = attention.bench.worker, run.problem
    given = {**run.returned.given, "O": run.returned.handle("O")}
    numbers = known(problem)
    found: list[Entry] = []
    for name, handle in carried(attention, run).items():
        leaves = worker.leaves(handle, given)
        before = _before(attention, problem, name)
        first: dict[int, int] = {}
        for position, leaf in enumerate(leaves[:_MOST]):
            path: Steps = tuple((str(kind), key) for kind, key in leaf["path"])
            shape = tuple(int(n) for n in leaf.get("shape") or ())
            kind = str(leaf.get("kind"))
            if before.get(repr(path)) == (kind, shape):
                continue
            value = _value(attention, handle.part(*path), kind, shape, leaf)
            twin = leaf.get("same_as")
            first[position] = len(found)
            found.append(
                Entry(
                    name, path, kind, shape, int(leaf.get("nbytes") or 0),
                    tuple(str(given) for given in leaf.get("inputs") or ()),
                    first.get(twin) if isinstance(twin, int) else None,
                    value, _meaning(value, numbers),
                )
            )  # fmt: skip
    if not any(entry.sized for entry in found):
        raise Skipped("what its forward hands on is an object whose parts cannot be reached from outside")
    return _told_by_tiles(found, numbers)


def tiled(listed: Sequence[Entry]) -> list[list[int]]:
    """Indices of the arrays that stand at one place of several tiles, as ``tiles[0].L``, ``tiles[1].L``."""
    places: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index, entry in enumerate(listed):
        if entry.kind in ("array", "list") and entry.value is not None:
            places[entry.site].append(index)
    return [indices for indices in places.values() if len(indices) > 1]


def _told_by_tiles(listed: list[Entry], numbers: Mapping[str, Array]) -> list[Entry]:
    """The entries, with tiles that together are what nothing else is told as such."""
    found = list(listed)
    for indices in tiled(found):
        values = [found[index].value for index in indices if not found[index].what]
        if len(values) == len(indices):
            joined = np.concatenate([np.ravel(value) for value in values if value is not None])
            what = _meaning(joined, numbers)
            if what and all(entry.what != what for entry in found):
                for index in indices:
                    found[index] = replace(found[index], what=what, piece=True)
    return found


def known(problem: Problem) -> dict[str, Array]:
    """What an entry's numbers may be."""
    case = problem.case
    with np.errstate(all="ignore"):
        scores = case.q @ case.k.swapaxes(-1, -2) / np.sqrt(case.q.shape[-1])
        if case.causal:
            scores[..., np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)] = -np.inf
        lse, top = logsumexp(case), scores.max(-1)
        return {
            "Q": case.q, "K": case.k, "V": case.v, "O": case.truth, "L": lse, "m": top,
            "l": np.exp(lse - top), "L in base 2": lse * np.log2(math.e),
            "m in base 2": top * np.log2(math.e),
            "-L": -lse, "1/l": np.exp(top - lse), "Q/√D": case.q / np.sqrt(case.q.shape[-1]),
            "P": np.exp(scores - lse[..., None]), "S": np.where(np.isfinite(scores), scores, 0.0),
            "exp(S - m)": np.exp(scores - top[..., None]),
        }  # fmt: skip


def _meaning(value: Array | None, numbers: Mapping[str, Array]) -> str:
    """Whose numbers an entry has, in whatever order of axes."""
    if value is None or value.size < 2:
        return ""
    with np.errstate(all="ignore"):
        flat = np.sort(np.where(np.isfinite(value), value, 0.0), axis=None)
        for name, right in numbers.items():
            if right.size == value.size:
                wanted = np.sort(right, axis=None)
                if np.max(np.abs(flat - wanted)) <= _CLOSE * np.max(np.abs(wanted)):
                    return name
    return ""


def _before(attention: Attention, problem: Problem, handle: str) -> dict[str, tuple[str, tuple[int, ...]]]:
    """What the object that is handed on held before the forward ran."""
    binding = attention.forward.binding
    if binding.init is None or binding.returns.get(handle) != Source("self"):
        return {}
    worker = attention.bench.worker
    made = construct(worker, binding, attention.forward.inputs(problem.case))
    return {
        repr(tuple((str(kind), key) for kind, key in leaf["path"])): (
            str(leaf.get("kind")),
            tuple(int(n) for n in leaf.get("shape") or ()),
        )
        for leaf in worker.leaves(made)
    }


def _value(
    attention: Attention, handle: Handle, kind: str, shape: tuple[int, ...], leaf: Mapping[str, Any]
) -> npt.NDArray[Any] | None:
    if kind in ("int", "float", "bool", "scalar"):
        value = leaf.get("value")
        return np.asarray(float(value)) if isinstance(value, int | float) else None
    if kind == "none" or int(np.prod(shape)) > _LARGEST:
        return None
    try:
        return attention.bench.worker.fetch(handle, shape)
    except Fault:
        return None
