"""Where the things that a role gives are: in the result of the call, or on the instance."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judge_tui.checks.calling.binding import Binding, Source
from judge_tui.checks.contract import Return, Role
from judge_tui.checks.sources import assigned_names, parsed, python_files, returned_names
from judge_tui.checks.submission import Submission

__all__ = ["by_name", "filled", "returns", "unnamed"]

_SINGLE = ("array", "scalar", "list", "none")

Shapes = Mapping[str, tuple[int, ...]]
Tree = Mapping[str, Any]


def returns(
    submission: Submission, role: Role, binding: Binding, result: Tree, instance: Tree | None, shapes: Shapes
) -> dict[str, Source]:
    """Where each returned thing is, from the shape of the result and the names in the source.

    Args:
        submission: For what the source calls the items of a tuple.
        role: What is played.
        binding: How it was called.
        result: Description of the call's result.
        instance: Description of the instance after the call, if there is one.
        shapes: Returned array → shape.
    """
    given = filled(binding)
    if given:
        rest = replace(role, returns=tuple(item for item in role.returns if item.name not in given))
        return {**returns(submission, rest, unfilled(binding), result, instance, shapes), **given}
    found = _in_result(submission, role, binding, result, shapes)
    for item in role.returns:
        # What a function returns holds no parameters, so that gradients may stand below any name.
        steps = _within(item, result, shapes) or _within(item, result, shapes, below=instance is None)
        if item.name not in found and steps:
            found[item.name] = Source("result", steps)
    if instance is not None:
        for item in role.returns:
            if item.name not in found and (steps := _within(item, instance, shapes)):
                found[item.name] = Source("self", steps)
        found |= _gathered(role, instance, found, shapes)
    return found


def _gathered(role: Role, instance: Tree, found: Mapping[str, Source], shapes: Shapes) -> dict[str, Source]:
    """Gradients in a list or tuple on the instance, as many as are open, in the contract's order."""
    missing = [item for item in role.returns if item.kind == "array" and item.name not in found]
    for step, key, part in instance.get("parts", ()):
        places = [(place, inner) for kind, place, inner in part.get("parts", ()) if kind == "i"]
        if step != "a" or "grad" not in str(key).lower() or not missing or len(places) != len(missing):
            continue
        if all(_fits(item, inner, shapes) for item, (_, inner) in zip(missing, places, strict=True)):
            return {
                item.name: Source("self", ((step, key), ("i", place)))
                for item, (place, _) in zip(missing, places, strict=True)
            }
    return {}


def unnamed(
    submission: Submission, role: Role, binding: Binding, result: Tree, found: Mapping[str, Source]
) -> list[str]:
    """Returned things whose place in a tuple or list was taken for theirs though no name says so."""
    parts: list[list[Any]] = list(result.get("parts", ()))
    gathered = [
        key
        for key, source in found.items()
        if source.of == "self" and source.steps[-1:] and source.steps[-1][0] == "i"
    ]
    if gathered or result.get("kind") not in ("tuple", "list"):
        return gathered
    named = {key for names in _names(submission, binding) for key in _matched(role, names, parts, None)}
    return [key for key, source in found.items() if key not in named and _item(source)]


def _item(source: Source) -> bool:
    return source.of == "result" and bool(source.steps) and source.steps[0][0] == "i"


def filled(binding: Binding) -> dict[str, Source]:
    """What a call puts into containers that it is handed."""
    return {a.source: Source("given", (("a", a.source),)) for a in binding.args if a.empty}


def unfilled(binding: Binding) -> Binding:
    """The binding without such arguments, for finding where everything else is."""
    return replace(binding, args=tuple(a for a in binding.args if not a.empty))


def by_name(submission: Submission, role: Role, binding: Binding, result: Tree) -> dict[str, Source] | None:
    """Where each returned thing must be when shapes are left out of account.

    An answer of a wrong shape is a finding and no reason to take the callable for another one, as long as
    names or the number of items say what is what.

    Returns:
        ``None`` when they do not.
    """
    if given := filled(binding):
        rest = replace(role, returns=tuple(item for item in role.returns if item.name not in given))
        named = by_name(submission, rest, unfilled(binding), result)
        return None if named is None else {**named, **given}
    parts: list[list[Any]] = list(result.get("parts", ()))
    needed = [item for item in role.returns if item.required and item.kind != "self"]
    found: dict[str, Source] = {}
    if _plain_tuple(result):
        for names in _names(submission, binding):
            found = found or _matched(role, names, parts, None)
    else:
        found = _by_key(role, parts) or _by_primal(role, parts)
    if not all(item.name in found for item in needed):
        if not _plain_tuple(result) or len(parts) != len(needed):
            return None
        found = {item.name: Source("result", (("i", index),)) for index, item in enumerate(needed)}
    kinds = {item.name: item.kind for item in needed}
    for name, source in found.items():
        part = next((part for step, key, part in parts if (step, key) == source.steps[0]), None)
        if part is None:
            # what the worker tells of a tuple does not count its items
            return None
        if kinds.get(name) == "array" and part.get("kind") not in ("array", "scalar", "list"):
            return None
    return {**found, **_selves(role, binding, found)}


def _in_result(
    submission: Submission, role: Role, binding: Binding, tree: Tree, shapes: Shapes
) -> dict[str, Source]:
    parts: list[list[Any]] = list(tree.get("parts", ()))
    kind = tree.get("kind")
    if kind == "list" and _holds_whole(role, parts, shapes):
        found = _from_tuple(submission, role, binding, parts, shapes)
    elif kind in _SINGLE or (not parts and kind != "tuple") or _rows(role, tree, shapes):
        found = {} if kind == "none" else {role.returns[0].name: Source()}
    elif _plain_tuple(tree):
        found = _from_tuple(submission, role, binding, parts, shapes)
    else:
        found = _by_key(role, parts) or _by_primal(role, parts) or _by_shape(role, parts, shapes)
        # A result with no part for it may be the handle itself: {"y": …, "xhat": …, "rstd": …}. A function
        # has nowhere else to keep it.
        alone = binding.init is None and not binding.on
        for item in role.returns:
            if found and item.kind == "handle" and (item.required or alone) and item.name not in found:
                found[item.name] = Source()
        inner = ((item, _within(item, tree, shapes)) for item in role.returns)
        found = found or {item.name: Source("result", steps) for item, steps in inner if steps}
        found = found or _by_place(role, tree, shapes)
        found = found or {role.returns[0].name: Source()}
    return {**found, **_selves(role, binding, found)}


def _holds_whole(role: Role, parts: Sequence[Sequence[Any]], shapes: Shapes) -> bool:
    """Whether a list is returned things one after another, and not one array as nested lists."""
    first = role.returns[0]
    if first.kind != "array" or first.name not in shapes:
        return False
    return any(
        part.get("kind") == "array" and _alike(first, part.get("shape"), shapes[first.name])
        for _step, _key, part in parts
    )


def _rows(role: Role, tree: Tree, shapes: Shapes) -> bool:
    """Whether a tuple is one array, row by row."""
    if tree.get("kind") != "tuple" or len(role.returns) > 1 or role.returns[0].kind != "array":
        return False
    wanted = shapes.get(role.returns[0].name)
    return bool(wanted) and _shape(tree) == wanted


def _shape(tree: Tree) -> tuple[int, ...] | None:
    """The shape that a tree has as one array; ``None`` where it is none."""
    kind = tree.get("kind")
    if kind == "array":
        return tuple(tree["shape"])
    if kind in ("scalar", "int", "float", "bool"):
        return ()
    inner = {_shape(part) for _step, _key, part in tree.get("parts", ())}
    (shape,) = inner if kind in ("tuple", "list") and len(inner) == 1 else (None,)
    return None if shape is None else (tree["count"], *shape)


def _by_place(role: Role, tree: Tree, shapes: Shapes) -> dict[str, Source]:
    """What a named tuple of other names holds, one thing after another."""
    parts: list[list[Any]] = list(tree.get("parts", ()))
    needed = [item for item in role.returns if item.required and item.kind != "self"]
    fits = tree.get("kind") == "tuple" and len(parts) == len(needed) > 1
    if not fits or not all(_fits(item, part[2], shapes) for item, part in zip(needed, parts, strict=True)):
        return {}
    return {
        item.name: Source("result", ((step, key),))
        for item, (step, key, _part) in zip(needed, parts, strict=True)
    }


def _plain_tuple(tree: Tree) -> bool:
    return tree.get("kind") == "tuple" and all(step == "i" for step, _key, _part in tree.get("parts", ()))


def _by_key(role: Role, parts: Sequence[Sequence[Any]]) -> dict[str, Source]:
    found: dict[str, Source] = {}
    for item in role.returns:
        for step, key, _part in parts:
            if item.means(str(key)):
                found.setdefault(item.name, Source("result", ((step, key),)))
    return found


def _by_primal(role: Role, parts: Sequence[Sequence[Any]]) -> dict[str, Source]:
    """Gradients in an object that names each after what it is the gradient by, as a pullback's cotangents."""
    found: dict[str, Source] = {}
    for item in role.returns:
        for step, key, part in parts:
            if item.kind == "array" and part.get("kind") == "array" and item.means(f"d{key}"):
                found.setdefault(item.name, Source("result", ((step, key),)))
    return found if all(item.name in found for item in role.returns if item.required) else {}


def _by_shape(role: Role, parts: Sequence[Sequence[Any]], shapes: Shapes) -> dict[str, Source]:
    """A role that gives one array, from an object whose names say nothing."""
    needed = [item for item in role.returns if item.required]
    if len(needed) != 1 or needed[0].kind != "array" or needed[0].name not in shapes:
        return {}
    fitting = [(step, key) for step, key, part in parts if _fits(needed[0], part, shapes)]
    return {needed[0].name: Source("result", (fitting[0],))} if len(fitting) == 1 else {}


def _selves(role: Role, binding: Binding, found: Mapping[str, Source]) -> dict[str, Source]:
    if binding.init is None and not binding.on:
        return {}
    return {
        r.name: Source("self")
        for r in role.returns
        if r.kind in ("handle", "self") and not r.whole and r.name not in found
    }


def _from_tuple(
    submission: Submission, role: Role, binding: Binding, parts: list[list[Any]], shapes: Shapes
) -> dict[str, Source]:
    found: dict[str, Source] = {}
    for names in _names(submission, binding):
        named = _matched(role, names, parts, shapes)
        found = named if len(named) > len(found) else found
    left = [i for i in range(len(parts)) if Source("result", (("i", i),)) not in found.values()]
    for item in role.returns:
        index = next((i for i in left if item.name not in found and _fits(item, parts[i][2], shapes)), None)
        if index is not None:
            left.remove(index)
            found[item.name] = Source("result", (("i", index),))
    return {**found, **_from_inner(role, parts, left, found, shapes)}


def _from_inner(
    role: Role,
    parts: Sequence[Sequence[Any]],
    left: Sequence[int],
    found: Mapping[str, Source],
    shapes: Shapes,
) -> dict[str, Source]:
    """Arrays that stand in a tuple within the tuple, in the contract's order: ``dx, (dgamma, dbeta)``."""
    inner = [
        ((("i", index), (step, key)), part)
        for index in left
        for step, key, part in parts[index][2].get("parts", ())
        if step == "i" and part.get("kind") in ("array", "scalar")
    ]
    made: dict[str, Source] = {}
    for item in role.returns:
        if item.kind != "array" or item.name in found:
            continue
        for place, (steps, part) in enumerate(inner):
            if _fits(item, part, shapes):
                made[item.name] = Source("result", steps)
                del inner[place]
                break
    return made


def _matched(
    role: Role, names: Sequence[str], parts: Sequence[Sequence[Any]], shapes: Shapes | None
) -> dict[str, Source]:
    """Items of a tuple whose names in the source say what they are; shapes are compared if given."""
    if len(names) != len(parts):
        return {}
    found: dict[str, Source] = {}
    left = list(range(len(parts)))
    for item in role.returns:
        for index in left:
            if item.means(names[index]) and (shapes is None or _fits(item, parts[index][2], shapes)):
                left.remove(index)
                found[item.name] = Source("result", (("i", index),))
                break
    return found


def _names(submission: Submission, binding: Binding) -> Iterator[tuple[str, ...]]:
    """What the source calls the items: where they are returned, then where callers unpack them."""
    trees: list[tuple[str, ast.Module]] = []
    for file in python_files(submission):
        try:
            trees.append((file, parsed(submission.read_bytes(file))))
        except SyntaxError:
            continue
    for file, tree in trees:
        if file == binding.file:
            yield returned_names(tree, binding.name)
    own = binding.name.rpartition(".")[2]
    for _file, tree in trees:
        yield from assigned_names(tree, own)


def _fits(item: Return, tree: Tree, shapes: Shapes) -> bool:
    if item.kind == "self":
        return False
    if item.whole:
        return tree.get("kind") == "array"
    if item.kind != "array":
        return tree.get("kind") != "none"
    if tree.get("kind") == "list":
        return True
    return tree.get("kind") in ("array", "scalar") and _alike(item, tree.get("shape"), shapes[item.name])


def _alike(item: Return, shape: Sequence[int] | None, wanted: tuple[int, ...]) -> bool:
    if shape is None:
        return True
    if item.loose and list(shape) == [math.prod(wanted)]:
        return True
    if item.loose:
        return [n for n in shape if n != 1] == [n for n in wanted if n != 1]
    return sorted(shape) == sorted(wanted)


def _within(
    item: Return, tree: Tree, shapes: Shapes, *, below: bool = False
) -> tuple[tuple[str, Any], ...] | None:
    """A part, or a part of one, whose name (alone, or with its owner's before it) is an array's.

    In a dict of gradients, ``gamma`` is the gradient by gamma: its name with a ``d`` before it counts there.
    ``below`` says that there are no parameters, so that it counts below any name, and in tuples' objects.
    """
    if item.kind != "array":
        return None
    for steps, part in _walk(tree, ()):
        name = str(steps[-1][1])
        owner = str(steps[-2][1]) if len(steps) > 1 else ""
        among = not owner or owner.isdigit() or "grad" in owner.lower()
        within = len(steps) > 1 and steps[0][0] == "i"
        gradients = (below or among) if steps[-1][0] == "k" else (below and within)
        known = item.means(name) or item.means(owner + name) or (gradients and item.means("d" + name))
        if known and part.get("kind") == "array" and _alike(item, part.get("shape"), shapes[item.name]):
            return steps
    return None


def _walk(
    tree: Tree, steps: tuple[tuple[str, Any], ...]
) -> Iterator[tuple[tuple[tuple[str, Any], ...], Tree]]:
    for step, key, part in tree.get("parts", ()):
        yield (*steps, (step, key)), part
        if len(steps) < 2:
            yield from _walk(part, (*steps, (step, key)))
