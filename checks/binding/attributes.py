"""Parameters that an object carries as attributes: found on an instance, set before a method is called."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.calling.binding import Binding, parse_path
from judge_tui.checks.calling.calls import construct, invoke
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.contract import Param, Role
from judge_tui.checks.faults import BadResult, Fault
from judge_tui.checks.sources import source_text

__all__ = ["with_attributes"]

_ATTRIBUTE = re.compile(r"self\.(\w+)")
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
    found, unmade = _carriers(worker, construct(worker, binding, inputs), missing, inputs)
    cold = replace(binding, attributes=found)
    lacking = [param for param in missing if param.required and not cold.takes(param.name)]
    if not lacking and (not unmade or _keeps(worker, cold, inputs)):
        return cold
    if all(_spoken_of(worker, binding, param) for param in lacking):
        with contextlib.suppress(Fault):
            made = construct(worker, replace(binding, warm=True), inputs)
            warm = replace(binding, warm=True, attributes=_carriers(worker, made, missing, inputs)[0])
            if all(warm.takes(param.name) for param in missing if param.required):
                return warm
    if lacking:
        raise BadResult(f"takes no '{lacking[0].name}', and its instance has no such attribute")
    return cold


def _carriers(
    worker: Worker, made: Handle, missing: Sequence[Param], inputs: Mapping[str, Any]
) -> tuple[dict[str, str], bool]:
    """Path on an instance → the parameter that it carries; and whether one has None where an array goes."""
    tree, assigned = worker.describe(made), worker.settable(made)
    found: dict[str, str] = {}
    unmade = False
    for param in missing:
        if path := _attribute(tree, param, inputs) or _assigned(assigned, param, inputs):
            found[path] = param.name
            unmade = unmade or (param.kind == "array" and _kind(tree, path) == "none")
    return found, unmade


def _kind(tree: Mapping[str, Any], path: str) -> str:
    """What stands at a path of an instance, as it was described; empty for a property."""
    for _step, key in parse_path(f"self.{path}").steps:
        parts = {str(name): part for _kind, name, part in tree.get("parts", ())}
        if key not in parts:
            return ""
        tree = parts[key]
    return str(tree.get("kind", ""))


def _spoken_of(worker: Worker, binding: Binding, param: Param) -> bool:
    """Whether the source of a callable's file has a name for a parameter: its first call may make that."""
    text = source_text(worker.submission.read_bytes(binding.file))
    return any(param.means(name) for name in set(_ATTRIBUTE.findall(text)))


def _keeps(worker: Worker, binding: Binding, inputs: Mapping[str, Any]) -> bool:
    """Whether a call leaves the arrays that were set before it."""
    with contextlib.suppress(Fault):
        returned = invoke(worker, binding, inputs)
        assert returned.instance is not None
        for path, name in binding.attributes.items():
            if np.ndim(inputs[name]):
                part = returned.instance.part(*parse_path(f"self.{path}").steps)
                held = worker.fetch(part, np.shape(inputs[name]), loose=True)
                if not np.array_equal(held.ravel(), np.ravel(inputs[name])):
                    return False
    return True


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
    wanted = inputs[param.name]
    if tree.get("kind") == "list":
        return bool(_lengths(tree) == np.shape(wanted))
    return tree.get("kind") == "array" and bool(np.prod(tree.get("shape", ())) == np.size(wanted))


def _lengths(tree: Mapping[str, Any]) -> tuple[int, ...]:
    """The shape of nested lists of numbers; what is odd in them shows when they are called."""
    if tree.get("kind") != "list":
        return ()
    first: Mapping[str, Any] = next((part for _step, _key, part in tree.get("parts", ())), {})
    return (int(tree.get("count", 0)), *_lengths(first))
