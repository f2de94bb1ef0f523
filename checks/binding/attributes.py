"""Parameters that an object carries as attributes: found on an instance, set before a method is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import construct
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Param, Role
from judge_tui.checks.faults import BadResult

__all__ = ["with_attributes"]

#: What a parameter object calls the array that it wraps.
_WRAPPED = frozenset({"data", "value", "array", "val", "values", "tensor", "w"})


def with_attributes(worker: Worker, role: Role, binding: Binding, inputs: Mapping[str, Any]) -> Binding:
    """Let attributes of the instance carry what neither its constructor nor the method takes.

    Args:
        worker: Where the submission is.
        role: What is played.
        binding: How it is called so far.
        inputs: Canonical parameter → the probe's value.

    Raises:
        BadResult: A required parameter has no attribute either.
    """
    if binding.init is None or binding.attributes or binding.origin != "found":
        return binding
    missing = [
        p for p in role.params if p.kind in ("array", "float") and not p.spare and not binding.takes(p.name)
    ]
    if not missing:
        return binding
    found: dict[str, str] = {}
    made = construct(worker, binding, inputs)
    tree, assigned = worker.describe(made), worker.settable(made)
    for param in missing:
        if path := _attribute(tree, param, inputs) or _assigned(assigned, param, inputs):
            found[path] = param.name
    for param in missing:
        if param.required and param.name not in found.values():
            raise BadResult(f"takes no '{param.name}', and its instance has no such attribute")
    return replace(binding, attributes=found)


def _attribute(tree: Mapping[str, Any], param: Param, inputs: Mapping[str, Any]) -> str:
    """Path of the attribute that carries a parameter: itself, in a dict, or what a parameter object wraps."""
    attributes = [(str(key), part) for step, key, part in tree.get("parts", ()) if step == "a"]
    for name, part in attributes:
        if param.means(name) and _may_hold(part, param, inputs):
            return name
    for name, part in attributes:
        for step, key, inner in part.get("parts", ()):
            if (
                step == "k"
                and param.means(str(key))
                and "grad" not in name
                and _may_hold(inner, param, inputs)
            ):
                return f"{name}[{str(key)!r}]"
            if step == "a" and param.means(name) and key in _WRAPPED and _may_hold(inner, param, inputs):
                return f"{name}.{key}"
    return ""


def _assigned(
    properties: Sequence[tuple[str, Mapping[str, Any]]], param: Param, inputs: Mapping[str, Any]
) -> str:
    """The property that a parameter is assigned to."""
    named = (name for name, tree in properties if param.means(name) and _may_hold(tree, param, inputs))
    return next(named, "")


def _may_hold(tree: Mapping[str, Any], param: Param, inputs: Mapping[str, Any]) -> bool:
    if param.kind == "float":
        return tree.get("kind") in ("float", "int", "scalar")
    if tree.get("kind") == "none":
        return True
    size = np.size(inputs[param.name])
    return tree.get("kind") == "array" and bool(np.prod(tree.get("shape", ())) == size)
