"""Whether calls leave their arguments alone and repeat themselves bit for bit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.binding import Binding
from judge_tui.checks.binding.layouts import handed
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.check import Findings, check
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import BadResult, Skipped
from judge_tui.checks.generic.alike import close, same, summed
from judge_tui.checks.tolerance import same_bits

__all__ = ["purity"]

Step = tuple[str, Any]

#: Stands for what a sample does not draw: a later role may take what an earlier one gave.
_KEPT = Handle(0)


@check(
    "purity",
    "arguments and repeats",
    establishes="Arguments stay as they are, a second call gives the same bits, no order of calls matters.",
    version=5,
)
def purity(bench: Bench, found: Findings) -> str:
    """Call every pure role twice with a call on another input between, and that one in another process."""
    roles = [role for role in bench.contract.roles if role.pure and role.name in bench.bindings]
    if not roles:
        pure = [role for role in bench.contract.roles if role.pure]
        if pure and not any(role.name in bench.bindings for role in bench.contract.roles):
            bench.binding(next((role for role in pure if role.required), pure[0]).name)
        raise Skipped("every role of this task that was found keeps state by design")
    ours = _Inputs.drawn(bench, "inputs")
    others = _Inputs.drawn(bench, "other")
    given = {
        role.name: _repeated(bench, found, role, roles[:index], ours, others)
        for index, role in enumerate(roles)
    }
    # Both inputs: what the last call here left behind is the wrong thing for one of them.
    with bench.fresh() as worker:
        alike = dict.fromkeys(given, True)
        for index, name in enumerate(("inputs", "other")):
            alone = _Inputs.drawn(bench, name)
            for role in roles:
                returned = bench.call(role.name, alone.values, worker=worker)
                values = _values(role, returned, alone.shapes)
                alike[role.name] = alike[role.name] and close(values, given[role.name].answers[index])
                alone.keep(role, returned)
        for role in roles:
            fine = alike[role.name]
            told = "same answer" if fine else "another answer than after other calls"
            where = bench.binding(role.name)
            _claim(found, where, f"{role.name} in a process of its own", told, "same answer", fine)
        alone = _Inputs.drawn(bench, "inputs")
        for index, role in enumerate(roles):
            if crossed := given[role.name].crossed:
                alone.renew(bench, role, roles[:index], worker)
                _crossed(bench, found, role, crossed, alone, worker)
    bad = [item for item in found.evidence if item.ok is False]
    if bad:
        return f"{bad[0].quantity}: {bad[0].measured}"
    return f"{', '.join(role.name for role in roles)}: arguments untouched, repeats bit for bit"


@dataclass(slots=True)
class _Inputs:
    """One draw: canonical parameter → value, handles of earlier roles included."""

    values: dict[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    calls: list[Returned] = field(default_factory=list)

    @classmethod
    def drawn(cls, bench: Bench, name: str) -> _Inputs:
        sample = bench.contract.sample(bench.rng(name))
        return cls(dict(sample.inputs), sample.shapes)

    def keep(self, role: Role, returned: Returned) -> None:
        self.calls.append(returned)
        for item in role.returns:
            ours = isinstance(self.values.get(item.name, _KEPT), Handle)
            if returned.has(item.name) and (item.kind in ("handle", "self") or ours):
                self.values[item.name] = returned.handle(item.name)

    def handles(self, role: Role) -> dict[str, Handle]:
        taken = {p.name: self.values.get(p.name) for p in role.params if p.kind == "handle"}
        return {name: value for name, value in taken.items() if isinstance(value, Handle)}

    def own(self, role: Role, binding: Binding) -> dict[str, Handle]:
        """Handles that are the object whose method plays the role, or parts of it: no arguments."""
        handles = self.handles(role)
        held = handles.get(binding.on)
        return {
            name: handle
            for name, handle in handles.items()
            if held and handle.id == held.id and handle.path[: len(held.path)] == held.path
        }

    def renew(self, bench: Bench, role: Role, earlier: Sequence[Role], worker: Worker | None = None) -> None:
        """Make the objects that a role takes anew."""
        taken = {param.name for param in role.params}
        for each in earlier:
            if any(item.name in taken and item.kind in ("handle", "self") for item in each.returns):
                self.keep(each, bench.call(each.name, self.values, worker=worker))


@dataclass(frozen=True, slots=True)
class _Crossed:
    """A call on the objects of one input with arrays of another, as the gradient of another loss.

    Attributes:
        arrays: Canonical parameter → the other's array, for what no earlier role takes.
        answer: What it gave; without what adds up on its instance.
    """

    arrays: Mapping[str, Any]
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Given:
    """What a role gave: of one input, of the other, and of both crossed where it takes objects."""

    answers: tuple[dict[str, Any], dict[str, Any]]
    crossed: _Crossed | None


def _repeated(
    bench: Bench, found: Findings, role: Role, earlier: Sequence[Role], ours: _Inputs, others: _Inputs
) -> _Given:
    """Call a role on one input, on another, and on the first again."""
    binding, worker = bench.binding(role.name), bench.worker
    handles, own = ours.handles(role), ours.own(role, binding)
    before = {name: _leaves(worker, handle) for name, handle in handles.items()}
    first = bench.call(role.name, ours.values)
    for name, handle in first.given.items():
        changed = _overwritten(worker, handle, ours.values[name], first)
        _claim(
            found,
            binding,
            f"{role.name} leaves {name} alone",
            changed or "unchanged",
            "unchanged",
            not changed,
        )
    spent = False
    for name, handle in handles.items():
        after = _leaves(worker, handle)
        if name in own:
            spent = spent or not before[name].keys() <= after.keys()
            after = _still(before[name], after)
        part = _modified(before[name], after, _outputs(role, binding))
        told = f"modified at {part}" if part else "unchanged"
        _claim(found, binding, f"{role.name} leaves the {name} alone", told, "unchanged", not part)
    if spent:
        found.note(
            f"{role.name} on one object", "once: it uses up what the object has kept for it",
            file=binding.file, line=binding.line or None,
        )  # fmt: skip
        # what was dropped cannot be looked at any more, but what of it was the caller's can
        for call in ours.calls:
            for name, handle in call.given.items():
                changed = _overwritten(worker, handle, ours.values[name], call)
                quantity = f"{role.name} leaves {name} of the {call.binding.role} alone"
                _claim(found, binding, quantity, changed or "unchanged", "unchanged", not changed)
    values = _values(role, first, ours.shapes)
    ours.keep(role, first)
    other = bench.call(role.name, others.values)
    answer = _values(role, other, others.shapes)
    others.keep(role, other)
    kept = same(_values(role, first, ours.shapes), values)
    _claim(
        found, binding, f"the answer of {role.name} after another call",
        "unchanged" if kept else "overwritten", "unchanged", kept,
    )  # fmt: skip
    if spent:
        ours.renew(bench, role, earlier)
        others.renew(bench, role, earlier)
    second = bench.call(role.name, ours.values)
    again = _values(role, second, ours.shapes)
    added = summed(binding, values, again)
    fine = same({name: value for name, value in values.items() if name not in added}, again)
    told = f"adds to the {' and '.join(added)} of its instance" if added else "same bits"
    _claim(found, binding, f"{role.name} repeats itself", told if fine else "differs", "same bits", fine)
    if spent:
        ours.renew(bench, role, earlier)
    crossed = _crossing(bench, role, earlier, ours, others, added)
    _refilled(bench, found, role, second, ours, others, {n: v for n, v in answer.items() if n not in added})
    return _Given((values, answer), crossed)


def _crossing(
    bench: Bench, role: Role, earlier: Sequence[Role], ours: _Inputs, others: _Inputs, added: Collection[str]
) -> _Crossed | None:
    """Call a role on objects that it was called on before, with other arrays beside them."""
    if not ours.handles(role):
        return None
    binding, before = bench.binding(role.name), [bench.binding(each.name) for each in earlier]
    arrays = {
        name: value
        for name, value in others.values.items()
        if isinstance(value, np.ndarray) and binding.takes(name) and not any(b.takes(name) for b in before)
    }
    if not arrays:
        return None
    answer = _values(role, bench.call(role.name, {**ours.values, **arrays}), ours.shapes)
    return _Crossed(arrays, {name: value for name, value in answer.items() if name not in added})


def _crossed(
    bench: Bench, found: Findings, role: Role, crossed: _Crossed, alone: _Inputs, worker: Worker
) -> None:
    """Hold a crossed call against the same one on objects that have served no other call."""
    returned = bench.call(role.name, {**alone.values, **crossed.arrays}, worker=worker)
    fine = close(crossed.answer, _values(role, returned, alone.shapes))
    told = "the answer to it" if fine else "another answer"
    names = " and ".join(crossed.arrays)
    _claim(
        found, bench.binding(role.name), f"{role.name} of another {names} on one cache", told,
        "the answer to it", fine,
    )  # fmt: skip


def _refilled(
    bench: Bench,
    found: Findings,
    role: Role,
    used: Returned,
    ours: _Inputs,
    others: _Inputs,
    answer: Mapping[str, Any],
) -> None:
    """Write other contents into the very objects of an earlier call: answers kept by identity show."""
    handles: dict[str, Handle] = {}
    for name, handle in used.given.items():
        value = others.values[name]
        if _overwritten(bench.worker, handle, ours.values[name], used):
            return
        bench.worker.fill(handle, value if isinstance(value, list) else _sent(value, used))
        handles[name] = handle
    if not handles:
        return
    returned = bench.call(role.name, {**others.values, **handles})
    fine = close(answer, _values(role, returned, others.shapes))
    told = "the answer to them" if fine else "another answer"
    binding = bench.binding(role.name)
    _claim(found, binding, f"{role.name} on arguments with new contents", told, "the answer to them", fine)


def _claim(found: Findings, binding: Binding, quantity: str, measured: str, limit: str, ok: bool) -> None:
    found.claim(quantity, ok, measured=measured, limit=limit, file=binding.file, line=binding.line or None)


def _values(role: Role, returned: Returned, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """What a role gave, apart from handles, as copies."""
    values: dict[str, Any] = {}
    for item in role.returns:
        if item.kind in ("handle", "self") or not returned.has(item.name):
            continue
        if item.kind == "array" and item.name in shapes:
            values[item.name] = returned.array(item.name, shapes[item.name])
        else:
            values[item.name] = returned.value(item.name)
    return values


def _overwritten(worker: Worker, handle: Handle, value: Any, returned: Returned) -> str:
    """How an argument was changed by the call; empty when it was not."""
    if isinstance(value, list):
        return "" if repr(worker.value(handle)) == repr(value) else "modified"
    sent = _sent(value, returned)
    try:
        return "" if same_bits(worker.fetch(handle, sent.shape, sent.dtype), sent) else "modified"
    except BadResult as fault:
        return f"modified ({fault.message.removeprefix('answered with ')})"


def _sent(array: Any, returned: Returned) -> Any:
    array = handed(array, returned.binding.layout)
    kind = array.dtype.kind
    return np.ascontiguousarray(array, dtype=np.float64 if kind == "f" else array.dtype)


def _leaves(worker: Worker, handle: Handle) -> dict[tuple[Step, ...], Any]:
    """Every array of an object by bytes, and every scalar, by path."""
    values: dict[tuple[Step, ...], Any] = {}
    for leaf in worker.leaves(handle):
        path = tuple((str(kind), key) for kind, key in leaf["path"])
        if leaf["kind"] != "array":
            values[path] = leaf.get("value")
            continue
        try:
            dtype = np.float64 if "float" in leaf["dtype"] else leaf["dtype"]
            values[path] = worker.fetch(handle.part(*path), leaf["shape"], dtype).tobytes()
        except (BadResult, TypeError):
            values[path] = leaf["dtype"]
    return values


def _still(before: Mapping[tuple[Step, ...], Any], after: Mapping[tuple[Step, ...], Any]) -> dict[Any, Any]:
    """An object after one of its own methods: it may drop what it kept and count; arrays stay as they are."""
    dropped = {path: value for path, value in before.items() if path not in after}
    counts = {path: value for path, value in before.items() if not isinstance(value, bytes)}
    return {**after, **dropped, **counts}


def _outputs(role: Role, binding: Binding) -> tuple[tuple[Step, ...], ...]:
    """Where on an instance a role leaves its answers: they are no argument, whoever holds them."""
    told = tuple(source.steps for source in binding.returns.values() if source.of == "self" and source.steps)
    return (*told, *((("a", item.name),) for item in role.returns))


def _modified(
    before: Mapping[tuple[Step, ...], Any],
    after: Mapping[tuple[Step, ...], Any],
    outputs: Sequence[tuple[Step, ...]],
) -> str:
    """The first part that is gone or different; what was added, filled in or is an answer does not count."""
    for path, value in before.items():
        if value is None or any(path[: len(out)] == out for out in outputs):
            continue
        if path not in after or (after[path] != value and repr(after[path]) != repr(value)):
            return "".join(f".{key}" if kind == "a" else f"[{key!r}]" for kind, key in path) or "its value"
    return ""
