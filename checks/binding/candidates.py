"""Candidates: callables whose name and signature allow a role, each with a way to call it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from judge_tui.checks.binding.packed import containers, pack, packs, settings
from judge_tui.checks.binding.signatures import Packed, arguments, only_place, ways
from judge_tui.checks.calling.binding import Argument, Binding, Source
from judge_tui.checks.calling.calls import construct
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import Fault

__all__ = ["Candidate", "Routine", "callables", "candidates", "name_score"]

Inventories = Mapping[str, Mapping[str, Any]]

#: Names of what a submission holds its own answer against.
_PLAIN = (
    r"dense", r"oracle", r"exact", r"direct", r"slow", r"brute", r"quadratic", r"materiali[sz]", r"full",
    r"standard", r"expected", r"truth", r"golden", r"baseline", r"simple", r"plain", r"loss", r"error",
    r"diff",
)  # fmt: skip
#: In a pattern on a class and its method together.
_DOT = r"\."
_MAKES = re.compile(r"_?(make|build|create|get|new)_?", re.I)


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


def _called(loaded: Inventories) -> Iterator[Routine]:
    """Objects of modules that are called like functions: instances, and partial functions."""
    for file, inventory in loaded.items():
        for item in inventory.get("called", ()):
            if item["params"] is not None:
                yield Routine(file, item["name"], item["params"], item["line"])


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
    several = [
        *_named(worker, loaded, role, found),
        *_closures(worker, role, found, inputs),
    ]
    # who names a class and its method means no other, however alike they are
    several = [each for each in several if _named_wholly(each.binding.name, role)] or several
    several = several or list(_factories(worker, loaded, role, inputs))
    yield from several or (_only_one(loaded, role) if role.by_parameters else ())


def _named(
    worker: Worker, loaded: Inventories, role: Role, found: Mapping[str, Binding]
) -> Iterator[Candidate]:
    """Functions and methods that are called as they are."""
    taken = {binding.target for binding in found.values()}
    own = containers(loaded)
    for item in (*callables(loaded), *(_called(loaded) if role.by_parameters else ())):
        score = name_score(item.name, role)
        if score is None:
            score = _params_score(item, role)
        if score is None or f"{item.file}:{item.name}" in taken:
            continue
        why = f"its name and its parameters ({', '.join(p['name'] for p in item.params)})"
        base = Binding(role.name, item.file, item.name, (), {}, why=why, line=item.line)
        if item.owner is not None:
            objects = settings(loaded, list(item.owner["params"] or ()), role)
            packed = _packed(worker, loaded, item, role)
            yield from _methods(item, base, role, found, score + 0.5, packed, objects)
        else:
            packed = _packed(worker, loaded, item, role)
            for args, unsure in ways(item.params, role, packed=packed, containers=own):
                yield Candidate(replace(base, args=args), score + unsure)


def _only_one(loaded: Inventories, role: Role) -> Iterator[Candidate]:
    """The only public function that there is, whatever it is called."""
    public = [
        item
        for item in callables(loaded)
        if item.owner is None and not item.name.startswith("_")
        if not any(re.search(pattern, item.name.lower()) for pattern in role.avoid)
    ]
    if len(public) == 1:
        (item,) = public
        base = Binding(
            role.name, item.file, item.name, (), {}, why="there is no other function", line=item.line
        )
        for args, unsure in ways(item.params, role):
            yield Candidate(replace(base, args=args), len(role.patterns) + 2.0 + unsure)


def _factories(
    worker: Worker, loaded: Inventories, role: Role, inputs: Mapping[str, Any]
) -> Iterator[Candidate]:
    """Functions that give one that plays the role, as their names say: ``make_beam_search(model)``."""
    for item in callables(loaded):
        if item.owner is not None or not _MAKES.match(item.name) or name_score(item.name, role) is None:
            continue
        if (made := arguments(item.params, role, lacking=True)) is None:
            continue
        why = f"{item.name} gives a function"
        name = f"{item.name}.__call__"
        base = Binding(role.name, item.file, name, (), {}, init=made[0], why=why, line=item.line)
        try:
            tree = worker.describe(construct(worker, base, inputs))
        except (Fault, KeyError):
            if not worker.alive:
                raise
            continue
        for args, unsure in ways(list(tree.get("params") or ()), role, lacking=True):
            binding = replace(base, args=args)
            if all(binding.takes(p.name) for p in role.params if p.required):
                yield Candidate(binding, len(role.patterns) + unsure)


def name_score(name: str, role: Role) -> float | None:
    """Which pattern of a role a name fits, the best being 0; ``None`` where it fits none, or is avoided."""
    own = name.rpartition(".")[2].lower()
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    if any(re.search(pattern, words) for pattern in role.avoid for words in (name.lower(), apart)):
        return None
    for index, pattern in enumerate(role.patterns):
        whole = "." in name and (own == "__call__" or _DOT in pattern)
        if re.search(pattern, own) or (whole and re.search(pattern, name.lower())):
            return index + (0.25 if own.startswith("_") else 0.0)
    return None


def _named_wholly(name: str, role: Role) -> bool:
    """Whether a pattern on a class and its method fits."""
    return any(_DOT in pattern and re.search(pattern, name.lower()) for pattern in role.patterns)


def _params_score(item: Routine, role: Role) -> float | None:
    """A name that says nothing, on parameters that all do: what such a callable gives has to tell."""
    words = item.name.lower()
    hidden = any(part.startswith("_") for part in item.name.split("."))
    told_otherwise = role.agrees is not None and not role.by_parameters
    if hidden or told_otherwise or any(re.search(p, words) for p in (*role.avoid, *_PLAIN)):
        return None
    needed = [p["name"] for p in item.params if "default" not in p and not p["kind"].startswith("VAR_")]
    told = [next((p.name for p in role.params if p.means(name)), "") for name in needed]
    if role.params[0].name not in told or not all(told):
        return None
    return len(role.patterns) + 1.0


def _packed(worker: Worker, loaded: Inventories, item: Routine, role: Role) -> Packed:
    """The dicts and objects of parameters that a callable takes, and what each must hold."""
    if objects := settings(loaded, item.params, role):
        return objects
    names = (p["name"] for p in item.params if packs(p["name"], role))
    made = {name: pack(worker.submission, item.file, name, item.params, role) for name in names}
    return {name: Argument("", parts=parts) for name, parts in made.items() if parts}


def _methods(
    item: Routine,
    base: Binding,
    role: Role,
    found: Mapping[str, Binding],
    score: float,
    packed: Packed,
    objects: Packed,
) -> Iterator[Candidate]:
    """A method is called on the object that an earlier role gave, or on an instance made for the call.

    What the method itself does not take, the instance must have: from the earlier call, from its
    constructor, or as attributes that the probe finds.
    """
    assert item.owner is not None
    called = list(ways(item.params, role, packed=packed))
    lacking = (*ways(item.params, role, lacking=True, packed=packed), *only_place(item.params, role))
    for args, unsure in called or lacking:
        yield from _owned(item, replace(base, args=args), role, found, score + unsure, objects)


def _owned(
    item: Routine,
    base: Binding,
    role: Role,
    found: Mapping[str, Binding],
    score: float,
    objects: Packed,
) -> Iterator[Candidate]:
    """The objects on which a method may be called with the arguments that it takes."""
    assert item.owner is not None
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
    params = list(item.owner["params"] or ())
    for packed, unsure in ((objects, 0.15), ({}, 0.25)) if objects else (({}, 0.25),):
        made = arguments(params, role, lacking=True, packed=packed)
        taken = {source for argument in made[0] for source in argument.sources} if made is not None else set()
        if made is not None and not any(p.kind == "handle" and p.name not in taken for p in missing):
            yield Candidate(replace(base, init=made[0], attributes={}), score + unsure)


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
