"""One draw of a task's inputs, with the objects that earlier roles made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.contract import Role

__all__ = ["Inputs"]

#: Stands for what a sample does not draw: a later role may take what an earlier one gave.
_KEPT = Handle(0)


@dataclass(slots=True)
class Inputs:
    """One draw of a contract's sample.

    Attributes:
        stream: Name of the random stream that it comes from.
        values: Canonical parameter → value, handles of earlier roles included.
        shapes: Answer → shape, for the arrays that the sample knows of.
        calls: What was kept of the roles called so far.
    """

    stream: str
    values: dict[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    calls: list[Returned] = field(default_factory=list)

    @classmethod
    def drawn(cls, bench: Bench, stream: str) -> Inputs:
        """The sample of a stream, in the same sizes for all of a run."""
        contract, rng = bench.asked, bench.rng(stream)
        sample = contract.sized(rng, bench.sizes("inputs")) if contract.sized else contract.sample(rng)
        return cls(stream, dict(sample.inputs), sample.shapes)

    def likeness(self, other: Inputs) -> float:
        """The share of equal elements, summed over arrays and lists; 0 where none is in its place."""
        pairs = ((value, other.values[name]) for name, value in self.values.items())
        return float(sum(_equal(a, b) for a, b in pairs if isinstance(a, np.ndarray | list)))

    def keep(self, role: Role, returned: Returned) -> None:
        """Keep the objects that a role gave for the roles after it."""
        self.calls.append(returned)
        for item in role.returns:
            ours = isinstance(self.values.get(item.name, _KEPT), Handle)
            if returned.has(item.name) and (item.kind in ("handle", "self") or ours):
                self.values[item.name] = returned.handle(item.name)

    def handles(self, role: Role) -> dict[str, Handle]:
        """The objects that a role takes."""
        taken = {p.name: self.values.get(p.name) for p in role.params if p.kind == "handle"}
        return {name: value for name, value in taken.items() if isinstance(value, Handle)}

    def own(self, role: Role, binding: Binding) -> set[str]:
        """Those that are the object whose method plays the role, or parts of it: no arguments."""
        handles = self.handles(role)
        held = handles.get(binding.on)
        return {
            name
            for name, handle in handles.items()
            if held and handle.id == held.id and handle.path[: len(held.path)] == held.path
        }

    def renew(self, bench: Bench, role: Role, earlier: Sequence[Role], worker: Worker | None = None) -> None:
        """Make the objects that a role takes anew."""
        taken = {param.name for param in role.params}
        for each in earlier:
            if any(item.name in taken and item.kind in ("handle", "self") for item in each.returns):
                self.keep(each, bench.call(each.name, self.values, worker=worker))

    def answers(self, role: Role, returned: Returned) -> dict[str, Any]:
        """What a role gave on this draw, apart from objects, as copies."""
        values: dict[str, Any] = {}
        for item in role.returns:
            if item.kind in ("handle", "self") or not returned.has(item.name):
                continue
            if item.kind == "array" and item.name in self.shapes:
                values[item.name] = returned.array(item.name, self.shapes[item.name])
            else:
                values[item.name] = returned.value(item.name)
        return values


def _equal(one: Any, other: Any) -> float:
    """The share of equal elements of two arrays or lists; constants of one element do not count."""
    try:
        one, other = np.asarray(one), np.asarray(other)
    except ValueError:
        # lists of lists of several lengths
        return float(one == other)
    if one.size < 2 or one.shape != other.shape:
        return 0.0
    return float(np.mean(one == other))
