"""Settling a role: the first candidate that answers on the contract's sample as the role does plays it."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.binding.attributes import with_attributes
from judge_tui.checks.binding.meant import Refused
from judge_tui.checks.binding.results import by_name, returns, unnamed
from judge_tui.checks.calling.binding import Argument, Binding, Source
from judge_tui.checks.calling.calls import Ended, Returned, invoke
from judge_tui.checks.calling.layouts import wired
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import BadResult, Fault
from judge_tui.checks.tolerance import relative_error

__all__ = ["settled"]

_PROBE_BUDGET = 10.0
#: Relative error of a value that was meant to be the truth.
_RIGHT = 1e-3


def settled(
    worker: Worker,
    role: Role,
    ranked: Sequence[Binding],
    inputs: dict[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
    refused: list[Refused],
    truths: Mapping[str, Any] | None = None,
) -> Binding | None:
    """The first candidate that answers in the contract's shapes, else as lists, else by its names alone.

    Args:
        worker: Where the submission is.
        role: What is looked for.
        ranked: Candidates, best first.
        inputs: The sample's; what the role gives is added.
        shapes: Of its answers.
        refused: Who does not play the role, and why, is added.
        truths: Answers, where shapes do not tell them apart.
    """
    misshapen: list[tuple[Binding, Returned]] = []
    for binding in ranked:
        settled = _probed(worker, role, binding, inputs, shapes, misshapen, truths)
        if isinstance(settled, Binding):
            return settled
        refused.append((binding, settled))
    for binding, returned in misshapen[:1]:
        _keep_handles(role, returned, inputs)
        why = f"{binding.why}; called on the sample, it gave other shapes than the contract's"
        return replace(binding, misshapen=True, why=why)
    for binding in ranked[:3]:
        settled = _probed(worker, role, _as_lists(binding, inputs), inputs, shapes, [], truths)
        if isinstance(settled, Binding):
            return settled
    return None


def _as_lists(binding: Binding, inputs: Mapping[str, Any]) -> Binding:
    def nested(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
        return tuple(
            replace(a, form="lists") if isinstance(inputs.get(a.source), np.ndarray) and not a.form else a
            for a in arguments
        )

    init = None if binding.init is None else nested(binding.init)
    return replace(binding, args=nested(binding.args), init=init)


def _probed(
    worker: Worker,
    role: Role,
    binding: Binding,
    inputs: dict[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
    misshapen: list[tuple[Binding, Returned]],
    truths: Mapping[str, Any] | None,
) -> Binding | Fault:
    """Call a candidate on the sample; settle where its returns are, or say why it is not the role.

    One that is refused for a shape alone, while names say what its answers are, is added to ``misshapen``.
    """
    try:
        binding = with_attributes(worker, role, binding, inputs)
        returned = invoke(worker, binding, inputs, budget=_PROBE_BUDGET)
        if binding.returns:
            return _accepted(role, returned, inputs, shapes)
        tree = returned.result.tree
        instance = worker.describe(returned.instance) if returned.instance else None
        alike = {name: wired(shape, binding.layout) for name, shape in shapes.items()}
        where = returns(worker.submission, role, binding, tree, instance, alike)
        for item in role.returns:
            if item.required and item.name in returned.filled:
                _unless_empty(worker, item.name, returned)
        try:
            free = unnamed(worker.submission, role, binding, tree, where)
            where = _told_apart(returned, where, free, truths or {})
            return _accepted(role, _at(returned, where), inputs, shapes)
        except BadResult:
            if named := by_name(worker.submission, role, binding, tree):
                misshapen.append((replace(binding, returns=named), _at(returned, named)))
            raise
    except KeyError as error:
        return Fault(str(error.args[0]))
    except Fault as fault:
        if Ended.by(fault, worker):
            raise Ended(binding, fault) from fault
        return fault


def _told_apart(
    returned: Returned, where: dict[str, Source], names: Sequence[str], truths: Mapping[str, Any]
) -> dict[str, Source]:
    """Places of arrays that nothing names, in the order in which they are right; else as they were."""
    names = [name for name in names if name in truths]
    for order in itertools.permutations(names):
        moved = {**where, **{name: where[other] for name, other in zip(names, order, strict=True)}}
        at = _at(returned, moved)
        with contextlib.suppress(BadResult):
            if all(relative_error(at.array(n, truths[n].shape), truths[n]) < _RIGHT for n in names):
                return moved
    return where


def _unless_empty(worker: Worker, name: str, returned: Returned) -> None:
    if not worker.describe(returned.filled[name]).get("parts"):
        raise BadResult(f"puts nothing into the '{name}' that it is handed")


def _at(returned: Returned, where: Mapping[str, Source]) -> Returned:
    return replace(returned, binding=replace(returned.binding, returns=where))


def _accepted(
    role: Role, returned: Returned, inputs: dict[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> Binding:
    """The binding, when everything is there in the shape that the contract asks for."""
    for item in role.returns:
        if not item.required and not returned.has(item.name):
            continue
        if item.kind == "array" and item.name in shapes:
            returned.array(item.name, shapes[item.name])
        else:
            returned.handle(item.name)
    _keep_handles(role, returned, inputs)
    binding = returned.binding
    return replace(binding, why=f"{binding.why}; {_seen(role, returned, inputs, shapes)}")


def _seen(
    role: Role, returned: Returned, inputs: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
) -> str:
    """What the call that confirmed a binding took and gave."""
    sources = dict.fromkeys(
        s for a in (*returned.binding.args, *(returned.binding.init or ())) for s in a.sources
    )
    taken = [f"{s} {v.shape}" for s in sources if isinstance(v := inputs.get(s), np.ndarray)]
    gave = [
        f"{item.name} {shapes[item.name]}" if item.kind == "array" and item.name in shapes else item.name
        for item in role.returns
        if item.kind != "self" and returned.has(item.name)
    ]
    return f"called{' with ' * bool(taken)}{', '.join(taken)}, it gave {', '.join(gave)}"


def _keep_handles(role: Role, returned: Returned, inputs: dict[str, Any]) -> None:
    for item in role.returns:
        # An array may be wanted again: a backward that takes O as an argument of its own.
        if (item.kind in ("handle", "self") or item.name not in inputs) and returned.has(item.name):
            inputs[item.name] = returned.handle(item.name)
