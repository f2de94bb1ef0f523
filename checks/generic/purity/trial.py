"""One role called on one input, on another, and on the first again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.remote import Carried, Handle, Worker
from judge_tui.checks.check import Findings
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import Fault
from judge_tui.checks.generic.purity.alike import close, same, summed
from judge_tui.checks.generic.purity.contents import (
    Contents,
    Path,
    contents,
    modified,
    outputs,
    overwritten,
    path_text,
    sent,
    still,
)
from judge_tui.checks.generic.purity.inputs import Inputs

__all__ = ["Crossed", "Given", "Trial"]


@dataclass(frozen=True, slots=True)
class Crossed:
    """A call on the objects of one input with arrays of another, as the gradient of another loss.

    Attributes:
        arrays: Canonical parameter → the other's array, for what no earlier role takes.
        answer: What it gave; without what adds up on its instance.
    """

    arrays: Mapping[str, Any]
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Given:
    """What a role gave: of one input, of the other, and of both crossed where it takes objects."""

    answers: tuple[dict[str, Any], dict[str, Any]]
    crossed: Crossed | None


@dataclass(frozen=True, slots=True)
class Trial:
    """A role on trial.

    Attributes:
        bench: Where it is called.
        found: Takes what each step shows.
        role: The role.
        earlier: The pure roles before it, on which it may depend.
        ours: One input.
        others: Another.
    """

    bench: Bench
    found: Findings
    role: Role
    earlier: Sequence[Role]
    ours: Inputs
    others: Inputs

    def run(self) -> Given:
        """Call it on ours, on the others, on ours again, on ours crossed with the others; then refill."""
        role, ours, others = self.role, self.ours, self.others
        before = {name: contents(self.bench.worker, held) for name, held in ours.handles(role).items()}
        first = self.bench.call(role.name, ours.values)
        self._arguments_alone(first)
        answer = ours.answers(role, first)
        spent = self._objects_alone(before, answer)
        ours.keep(role, first)
        other = self.bench.call(role.name, others.values)
        second = others.answers(role, other)
        others.keep(role, other)
        kept = same(ours.answers(role, first), answer)
        told = "unchanged" if kept else "overwritten"
        self._claim(f"the answer of {role.name} after another call", told, "unchanged", kept)
        if spent:
            ours.renew(self.bench, role, self.earlier)
            others.renew(self.bench, role, self.earlier)
        again = self.bench.call(role.name, ours.values)
        added = self._repeats(answer, ours.answers(role, again))
        if spent:
            ours.renew(self.bench, role, self.earlier)
        crossed = self._crossing(added)
        self._refilled(again, _without(second, added))
        return Given((answer, second), crossed)

    def alone(self, crossed: Crossed, fresh: Inputs, worker: Worker) -> None:
        """Hold a crossed call against the same one on objects that have served no other call."""
        returned = self.bench.call(self.role.name, {**fresh.values, **crossed.arrays}, worker=worker)
        fine = close(crossed.answer, fresh.answers(self.role, returned))
        quantity = f"{self.role.name} of another {' and '.join(crossed.arrays)} on one cache"
        self._claim(quantity, "the answer to it" if fine else "another answer", "the answer to it", fine)

    def _arguments_alone(self, returned: Returned, whose: str = "") -> None:
        """Whether the role left the arguments of its own call alone, or those of an earlier role's."""
        for name, handle in returned.given.items():
            changed = overwritten(self.bench.worker, handle, self.ours.values[name], returned)
            quantity = f"{self.role.name} leaves {name}{whose} alone"
            self._claim(quantity, changed or "unchanged", "unchanged", not changed)

    def _objects_alone(self, before: Mapping[str, Contents], answer: Mapping[str, Any]) -> bool:
        """Whether the role used up what its own object kept for it; what was not its own stays as it was."""
        own, answers = self.ours.own(self.role, self._binding), outputs(self.role, self._binding)
        spent = worked = False
        for name, handle in self.ours.handles(self.role).items():
            after = contents(self.bench.worker, handle)
            if name in own:
                spent = spent or not before[name].keys() <= after.keys()
                after = still(before[name], after)
            parts = modified(before[name], after, answers)
            if name in own:
                kept = [part for part in parts if not self._scratch(handle, part, answer)]
                worked, parts = worked or len(kept) < len(parts), kept
            told = f"modified at {path_text(parts[0])}" if parts else "unchanged"
            self._claim(f"{self.role.name} leaves the {name} alone", told, "unchanged", not parts)
        if spent:
            self.found.note(
                f"{self.role.name} on one object", "once: it uses up what the object has kept for it",
                file=self._binding.file, line=self._binding.line or None,
            )  # fmt: skip
        if spent or worked:
            # What was dropped, or is room to work in, may be the caller's own.
            for call in self.ours.calls:
                self._arguments_alone(call, f" of the {call.binding.role}")
        return spent

    def _scratch(self, handle: Handle, part: Path, answer: Mapping[str, Any]) -> bool:
        """Whether a part of the role's own object is room to work in, whatever stands there."""
        held = self.ours.handles(self.role)[self._binding.on]
        within = handle.path[len(held.path) :]
        try:
            other = self.bench.worker.poisoned(held, (*within, *part))
            objects = {
                name: other.part(*self.ours.handles(self.role)[name].path[len(held.path) :])
                for name in self.ours.own(self.role, self._binding)
            }
            returned = self.bench.call(self.role.name, {**self.ours.values, **objects})
            return same(answer, self.ours.answers(self.role, returned))
        except Fault:
            if not self.bench.worker.alive:
                raise
            return False

    def _repeats(self, answer: Mapping[str, Any], again: Mapping[str, Any]) -> list[str]:
        """Whether a second call gives the same bits; the answers that add up on the instance do not count."""
        added = summed(self._binding, answer, again)
        fine = same(_without(answer, added), again)
        told = f"adds to the {' and '.join(added)} of its instance" if added else "same bits"
        self._claim(f"{self.role.name} repeats itself", told if fine else "differs", "same bits", fine)
        return added

    def _crossing(self, added: Collection[str]) -> Crossed | None:
        """Call it on objects that it was called on before, with other arrays beside them."""
        if not self.ours.handles(self.role):
            return None
        before = [self.bench.binding(each.name) for each in self.earlier]
        arrays = {
            name: value
            for name, value in self.others.values.items()
            if isinstance(value, np.ndarray)
            and self._binding.takes(name)
            and not any(binding.takes(name) for binding in before)
        }
        if not arrays:
            return None
        returned = self.bench.call(self.role.name, {**self.ours.values, **arrays})
        return Crossed(arrays, _without(self.ours.answers(self.role, returned), added))

    def _refilled(self, used: Returned, answer: Mapping[str, Any]) -> None:
        """Write other contents into the very objects of an earlier call: answers kept by identity show."""
        handles: dict[str, Handle] = {}
        for name, handle in used.given.items():
            if overwritten(self.bench.worker, handle, self.ours.values[name], used):
                return
            if isinstance(self.others.values[name], Carried):
                continue
            self.bench.worker.fill(handle, sent(self.others.values[name], used))
            handles[name] = handle
        if not handles:
            return
        returned = self.bench.call(self.role.name, {**self.others.values, **handles})
        fine = close(answer, self.others.answers(self.role, returned))
        told = "the answer to them" if fine else "another answer"
        self._claim(f"{self.role.name} on arguments with new contents", told, "the answer to them", fine)

    @property
    def _binding(self) -> Binding:
        return self.bench.binding(self.role.name)

    def _claim(self, quantity: str, measured: str, limit: str, ok: bool) -> None:
        where = self._binding
        self.found.claim(
            quantity, ok, measured=measured, limit=limit, file=where.file, line=where.line or None
        )


def _without(answer: Mapping[str, Any], added: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in added}
