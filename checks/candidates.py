"""Candidates: callables whose name and signature allow a role, each with a way to call it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from judge_tui.checks.binding import Argument, Binding, Source
from judge_tui.checks.contract import Param, Role
from judge_tui.checks.remote import Handle, Worker

__all__ = ["Candidate", "callables", "candidates"]

Inventories = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A callable that may play a role.

    Attributes:
        binding: How it would be called; ``returns`` is settled by the probe.
        score: Lower is better.
    """

    binding: Binding
    score: float


@dataclass(frozen=True, slots=True)
class Routine:
    """A function, or a method with its class, as the inventory lists it.

    Attributes:
        file: Where it is.
        name: Qualified name.
        params: Its parameters, ``self`` excluded.
        line: 1-based.
        owner: The class's inventory; ``None`` for functions and static methods.
    """

    file: str
    name: str
    params: list[Mapping[str, Any]]
    line: int
    owner: Mapping[str, Any] | None = None


def callables(loaded: Inventories) -> Iterator[Routine]:
    """Every function and method of the files."""
    for file, inventory in loaded.items():
        for function in inventory.get("functions", ()):
            if function["params"] is not None:
                yield Routine(file, function["name"], function["params"], function["line"])
        for cls in inventory.get("classes", ()):
            for method in cls["methods"]:
                if method["params"] is None:
                    continue
                name = f"{cls['name']}.{method['name']}"
                if method.get("static"):
                    yield Routine(file, name, method["params"], method["line"])
                else:
                    yield Routine(file, name, method["params"][1:], method["line"], cls)


def candidates(
    worker: Worker, loaded: Inventories, role: Role, found: Mapping[str, Binding], inputs: Mapping[str, Any]
) -> Iterator[Candidate]:
    """Callables whose name and signature allow the role, with a way to call them.

    Args:
        worker: Where the submission is.
        loaded: File → inventory.
        role: What is looked for.
        found: Roles that are settled: a method of the object that one of them gave may follow it.
        inputs: The probe's inputs, with the handles that earlier roles gave.
    """
    taken = {binding.target for binding in found.values()}
    for item in callables(loaded):
        score = _name_score(item.name, role)
        if score is None or f"{item.file}:{item.name}" in taken:
            continue
        why = f"its name and its parameters ({', '.join(p['name'] for p in item.params)})"
        base = Binding(role.name, item.file, item.name, (), {}, why=why, line=item.line)
        if item.owner is not None:
            yield from _methods(item, base, role, found, score + 0.5)
        elif called := _arguments(item.params, role):
            yield Candidate(replace(base, args=called[0]), score + called[1])
    yield from _closures(worker, role, found, inputs)


def _name_score(name: str, role: Role) -> float | None:
    own = name.rpartition(".")[2].lower()
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    if any(re.search(pattern, words) for pattern in role.avoid for words in (name.lower(), apart)):
        return None
    for index, pattern in enumerate(role.patterns):
        if re.search(pattern, own) or (
            "." in name and own == "__call__" and re.search(pattern, name.lower())
        ):
            return index + (0.25 if own.startswith("_") else 0.0)
    return None


def _arguments(
    params: list[Mapping[str, Any]], role: Role, *, lacking: bool = False
) -> tuple[tuple[Argument, ...], float] | None:
    """How to call a signature with a role's parameters, and how unsure that is; ``None`` when it cannot be.

    Names decide; what no name tells is filled in the contract's order.

    Args:
        params: The signature.
        role: What it may play.
        lacking: Whether required parameters may be left out: something else supplies them.
    """
    used: set[str] = set()
    args: list[Argument] = []
    unknown = 0
    for param in params:
        if param["kind"] in ("VAR_POSITIONAL", "VAR_KEYWORD"):
            continue
        match = next((p for p in role.params if p.means(param["name"]) and p.name not in used), None)
        # ``bias=True`` asks whether there is one, and is no place for an array.
        switch = match is not None and match.kind == "array" and isinstance(param.get("default"), bool)
        if match is not None and not switch and not (match.spare and "default" in param):
            used.add(match.name)
            args.append(Argument(match.name, param["name"] if param["kind"] == "KEYWORD_ONLY" else ""))
        elif "default" not in param:
            unknown += 1
            args.append(Argument("", param["name"] if param["kind"] == "KEYWORD_ONLY" else ""))
        else:
            # From here on positions no longer line up, so the rest goes by keyword.
            args.append(Argument("", "-"))
    if unknown == 0:
        missing = [p for p in role.params if p.required and p.name not in used]
        if missing and not lacking:
            return None
        return _keyworded(args, params), 0.0
    # A constructor's unknown parameter is taken for a size, never for an array.
    free = [p for p in role.params if p.name not in used and (not lacking or p.kind == "int")]
    if unknown > len(free) or (not lacking and any(p.required for p in free[unknown:])):
        return None
    return _filled(args, params, free), 2.0 * unknown


def _keyworded(args: list[Argument], params: list[Mapping[str, Any]]) -> tuple[Argument, ...]:
    named = [p for p in params if p["kind"] not in ("VAR_POSITIONAL", "VAR_KEYWORD")]
    skipping, result = False, []
    for argument, param in zip(args, named, strict=True):
        if argument.keyword == "-":
            skipping = True
        elif skipping and not argument.keyword:
            result.append(replace(argument, keyword=param["name"]))
        else:
            result.append(argument)
    return tuple(result)


def _filled(args: list[Argument], params: list[Mapping[str, Any]], free: list[Param]) -> tuple[Argument, ...]:
    rest = iter(free)
    filled = [replace(a, source=next(rest).name) if not a.source and a.keyword != "-" else a for a in args]
    return _keyworded(filled, params)


def _methods(
    item: Routine, base: Binding, role: Role, found: Mapping[str, Binding], score: float
) -> Iterator[Candidate]:
    """A method is called on the object that an earlier role gave, or on an instance made for the call.

    What the method itself does not take, the instance must have: from the earlier call, from its
    constructor, or as attributes that the probe finds.
    """
    assert item.owner is not None
    called = _arguments(item.params, role) or _arguments(item.params, role, lacking=True)
    if called is None:
        return
    base, score = replace(base, args=called[0]), score + called[1]
    missing = [p for p in role.params if p.required and not base.takes(p.name)]
    owner = str(item.owner["name"])
    for earlier in found.values():
        if (earlier.file, earlier.name.rpartition(".")[0]) != (item.file, owner):
            continue
        for handle in (p.name for p in role.params if p.kind == "handle" and not base.takes(p.name)):
            if earlier.returns.get(handle) == Source("self") and all(
                p.kind == "handle" or earlier.takes(p.name) for p in missing
            ):
                yield Candidate(replace(base, on=handle), score)
    made = _arguments(list(item.owner["params"] or ()), role, lacking=True)
    if made is not None and not any(p.kind == "handle" for p in missing):
        yield Candidate(replace(base, init=made[0], attributes={}), score + 0.25)


def _closures(
    worker: Worker, role: Role, found: Mapping[str, Binding], inputs: Mapping[str, Any]
) -> Iterator[Candidate]:
    """An earlier role may give a function that plays this one: a backward that closes over its cache."""
    for param in (p for p in role.params if p.kind == "handle"):
        handle = inputs.get(param.name)
        earlier = next((b for b in found.values() if param.name in b.returns), None)
        if earlier is None or not isinstance(handle, Handle):
            continue
        if worker.describe(handle).get("kind") == "callable":
            args = tuple(Argument(p.name) for p in role.params if p.required and p.kind != "handle")
            name, why = f"{earlier.name}()", f"{earlier.name} gives a function"
            yield Candidate(
                Binding(role.name, earlier.file, name, args, {}, on=param.name, why=why, line=earlier.line),
                len(role.patterns),
            )
