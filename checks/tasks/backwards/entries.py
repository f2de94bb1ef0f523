"""The entries of a cache, counted as a person would, and what the backward does with each.

*read*: with NaN in its place some gradient changes, or the backward raises. *used*: with
other finite numbers in its place some gradient changes. An entry can be read and not used
(``0 * entry``), and only use justifies it. *alias*: it shares memory with what the caller
holds anyway, so that it costs no bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Source, parse_path
from judge_tui.checks.calling.calls import construct
from judge_tui.checks.calling.remote import Handle, Nested, Steps
from judge_tui.checks.faults import BadResult, Died, Fault, Raised, Skipped, TimedOut
from judge_tui.checks.tasks.backwards.passes import Pass, backward, cache_of, cache_role, forward
from judge_tui.checks.tasks.backwards.reference import Batch, gradients
from judge_tui.checks.tolerance import relative_error, same_bits

__all__ = ["MOST", "Entry", "measured"]

Array = npt.NDArray[Any]

#: Entries of a cache that are looked at.
MOST = 48
_LARGEST = 1_000_000
_PROBE_BUDGET = 5.0
#: A gradient that moves by less than this share of its largest entry has not moved.
_MOVED = 1e-12
#: A gradient this close to the truth was computed from something.
_RIGHT = 1e-3


@dataclass(frozen=True, slots=True)
class Entry:
    """One array or scalar of a cache.

    Attributes:
        path: Where it is in the cache.
        kind: ``array``, ``list``, ``scalar``, ``int``, ``float``, ``bool`` or ``none``.
        shape: Of an array; empty for a scalar.
        nbytes: Of an array.
        alias: Inputs (and ``y``) that it shares memory with.
        twin: Index of an earlier entry that it shares memory with.
        value: Its numbers; ``None`` where they could not be fetched.
        read: Whether NaN in its place shows.
        used: Whether other numbers in its place show.
        steadies: Whether they show in the rounding alone, as of a mean whose rest is subtracted again.
    """

    path: Steps
    kind: str
    shape: tuple[int, ...]
    nbytes: int
    alias: tuple[str, ...]
    twin: int | None
    value: Array | None
    read: bool = False
    used: bool = False
    steadies: bool = False

    @property
    def sized(self) -> bool:
        """Whether it is an array of more than one number."""
        return self.kind in ("array", "list") and int(np.prod(self.shape)) > 1


def measured(bench: Bench, batch: Batch) -> list[Entry]:
    """Run the forward and try every entry of its cache on the backward.

    Args:
        bench: The submission.
        batch: What it is run on.

    Raises:
        Skipped: The cache is nothing whose parts can be reached.
    """
    probe = _Probe(bench, batch)
    entries = [_tried(probe, entry) for entry in _listed(bench, probe)]
    truth = gradients(batch).dx
    if not any(e.used for e in entries) and relative_error(probe.baseline.dx, truth) < _RIGHT:
        raise Skipped("the gradients are right whatever it holds: what counts cannot be reached")
    return entries


def _tried(probe: _Probe, entry: Entry) -> Entry:
    if entry.kind == "none":
        return entry
    read = probe.moved(lambda: probe.poisoned(entry.path))
    used = any(probe.moved(change) for change in probe.changes(entry))
    steadies = read and not used and any(probe.moved(c, exactly=True) for c in probe.changes(entry))
    return replace(entry, read=read, used=used, steadies=steadies)


class _Probe:
    """A forward's cache, and backward runs on changed copies of it."""

    def __init__(self, bench: Bench, batch: Batch) -> None:
        self.bench, self.batch = bench, batch
        self._start()
        try:
            copied = bench.worker.copied(self.cache)
        except (Raised, BadResult) as fault:
            raise Skipped(f"the cache cannot be copied to change it: it {fault.message}") from fault
        self.baseline = backward(bench, self.run, cache=copied)

    def _start(self) -> None:
        self.run: Pass = forward(self.bench, self.batch)
        self.cache: Handle = cache_of(self.bench, self.run)

    def poisoned(self, path: Steps) -> Handle:
        return self.bench.worker.poisoned(self.cache, path)

    def changes(self, entry: Entry) -> list[Callable[[], Handle]]:
        """Ways to put other finite numbers in an entry's place.

        Scaled and shifted first; then noise, since a normalisation undoes an affine change.
        """
        worker = self.bench.worker
        affine = [lambda: worker.perturbed(self.cache, entry.path, scale=1.37, shift=0.21)]
        size = int(np.prod(entry.shape))
        if not entry.sized or size > _LARGEST:
            return list(affine)
        noise: Any = self.bench.rng("noise").standard_normal(entry.shape)
        noise = Nested(noise) if entry.kind == "list" else noise
        other = [lambda: worker.substituted(self.cache, entry.path, noise)]
        return [*other] if entry.kind == "list" else [*affine, *other]

    def moved(self, change: Callable[[], Handle], *, exactly: bool = False) -> bool:
        """Whether a gradient differs from the baseline, or the backward can no longer be run."""
        differs = _other_bits if exactly else _differs
        try:
            changed = change()
        except Fault:
            return False
        try:
            moved = backward(self.bench, self.run, cache=changed, budget=_PROBE_BUDGET)
        except (Raised, BadResult):
            return True
        except (Died, TimedOut):
            self._start()
            return True
        finally:
            if self.bench.worker.alive:
                self.bench.worker.drop(changed)
        return any(differs(getattr(moved, n), getattr(self.baseline, n)) for n in ("dx", "dgamma", "dbeta"))


def _other_bits(one: Array, other: Array) -> bool:
    return not same_bits(one, other)


def _differs(one: Array, other: Array) -> bool:
    largest = float(np.max(np.abs(other), initial=0.0))
    return not bool(np.all(np.abs(one - other) <= _MOVED * largest))


def _listed(bench: Bench, probe: _Probe) -> list[Entry]:
    """Entries of the cache, without what its object already had before the forward: parameters, settings."""
    worker, returned = bench.worker, probe.run.returned
    given = {**returned.given, "y": returned.handle("y")}
    leaves = worker.leaves(probe.cache, given)
    own = _owned(bench, probe)
    entries: list[Entry] = []
    for leaf in leaves[:MOST]:
        path: Steps = tuple((str(kind), key) for kind, key in leaf["path"])
        shape = tuple(int(n) for n in leaf.get("shape") or ())
        kind = str(leaf.get("kind"))
        if own.get(path) == (kind, shape):
            continue
        alias = tuple(str(name) for name in leaf.get("inputs") or ())
        value = _value(bench, probe.cache.part(*path), kind, shape, leaf)
        twin = leaf.get("same_as")
        index = next(
            (i for i, e in enumerate(entries) if twin is not None and _at(leaves, twin) == e.path), None
        )
        entries.append(Entry(path, kind, shape, int(leaf.get("nbytes") or 0), alias, index, value))
    if not entries or (len(entries) == 1 and not entries[0].path and not entries[0].sized):
        raise Skipped("the cache is an object whose parts cannot be reached from outside")
    return entries


def _at(leaves: list[Any], index: int) -> Steps:
    return tuple((str(kind), key) for kind, key in leaves[index]["path"])


def _owned(bench: Bench, probe: _Probe) -> dict[Steps, tuple[str, tuple[int, ...]]]:
    """What the object that keeps the cache held before the forward ran."""
    binding = bench.binding("forward")
    role = cache_role(bench)
    if binding.init is None or binding.returns.get(role) != Source("self"):
        return {}
    batch = probe.batch
    inputs = {"x": batch.x, "gamma": batch.gamma, "beta": batch.beta, "eps": batch.eps, "D": batch.width}
    before = _leaves(bench, construct(bench.worker, replace(binding, warm=False, attributes={}), inputs))
    # what it is told may only be there once a first call has made it
    told = [parse_path(f"self.{path}").steps for path in binding.attributes]
    set_up = _leaves(bench, construct(bench.worker, binding, inputs))
    return {**before, **{path: leaf for path, leaf in set_up.items() if path in told}}


def _leaves(bench: Bench, made: Handle) -> dict[Steps, tuple[str, tuple[int, ...]]]:
    """Path in an object → kind and shape."""
    return {
        tuple((str(kind), key) for kind, key in leaf["path"]): (
            str(leaf.get("kind")),
            tuple(int(n) for n in leaf.get("shape") or ()),
        )
        for leaf in bench.worker.leaves(made)
    }


def _value(bench: Bench, handle: Handle, kind: str, shape: tuple[int, ...], leaf: Any) -> Array | None:
    if kind == "none" or int(np.prod(shape)) > _LARGEST:
        return None
    if kind in ("int", "float", "bool", "scalar"):
        value = leaf.get("value")
        return np.asarray(float(value)) if isinstance(value, int | float) else None
    try:
        return bench.worker.fetch(handle, shape)
    except Fault:
        return None
