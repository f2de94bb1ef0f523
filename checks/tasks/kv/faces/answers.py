"""Where a call's answer has the output and the cache: in the result, or in what was changed in place.

Submissions return the output alone, with the cache before or after it, with keys and values as two
more items, in a dict or an object; or nothing, having changed the cache that they were given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.contract import Role

__all__ = ["State", "cache_of", "carries", "made_cache", "pair", "part", "same_kind"]

#: What is handed on from call to call: an object, a tuple of objects, or None before the first call.
State = Handle | tuple[Handle, ...] | None

Tree = Mapping[str, Any]
#: Kinds of results that can be a cache, or hold one.
_HOLDING = ("tuple", "list", "dict", "object")


def _parts(tree: Tree) -> list[list[Any]]:
    return [list(item) for item in tree.get("parts", ())]


def _unwrapped(handle: Handle, tree: Tree) -> tuple[Handle, Tree]:
    """What an object holds that is nothing but one array; anything else as it is."""
    held = [(step, key, below) for step, key, below in _parts(tree) if below.get("kind") == "array"]
    if tree.get("kind") != "object" or len(held) != 1:
        return handle, tree
    ((step, key, below),) = held
    return handle.part((step, key)), below


def part(returned: Returned, role: Role, name: str, rank: Sequence[int]) -> Handle | None:
    """The returned array ``name``.

    Args:
        returned: The call.
        role: What was played.
        name: Canonical name of an array.
        rank: Ranks that it may have on the wire.
    """
    if returned.has(name):
        return returned.handle(name)
    root, tree = _unwrapped(returned.result.handle, returned.result.tree)
    if tree.get("kind") in ("array", "list", "scalar"):
        return root
    item = next(r for r in role.returns if r.name == name)
    for step, key, _below in _parts(tree):
        if step in ("k", "a") and item.means(str(key)):
            return root.part((step, key))
    for step, key, below in _parts(tree):
        if below.get("kind") == "array" and len(below.get("shape", ())) in rank:
            return root.part((step, key))
    return None


def pair(returned: Returned, role: Role) -> tuple[Handle, Handle] | None:
    """Keys and values, when the result holds two arrays (or two entries so named)."""
    if returned.has("k") and returned.has("v"):
        return returned.handle("k"), returned.handle("v")
    tree, root = returned.result.tree, returned.result.handle
    named = {
        item.name: root.part((step, key))
        for item in role.returns
        if item.name in ("k", "v")
        for step, key, _below in _parts(tree)
        if step in ("k", "a") and item.means(str(key))
    }
    if len(named) == 2:
        return named["k"], named["v"]
    if tree.get("kind") not in ("tuple", "list"):
        return None
    parts = [_unwrapped(root.part((step, key)), below) for step, key, below in _parts(tree)]
    arrays = [handle for handle, below in parts if below.get("kind") == "array"]
    return (arrays[0], arrays[1]) if len(arrays) >= 2 else None


def carries(binding: Binding) -> bool:
    """Whether a call is handed what goes on from call to call, or is a method of it."""
    return binding.on == "cache" or binding.takes("cache")


def cache_of(returned: Returned, binding: Binding, role: Role, before: State) -> State:
    """The cache after a call.

    Args:
        returned: The call.
        binding: How it was made.
        role: What was played.
        before: The cache that was handed over.
    """
    if returned.has("cache"):
        return returned.handle("cache")
    tree, root = returned.result.tree, returned.result.handle
    if binding.on:
        # A method that gives another of its class leaves the one that it was called on as it was.
        given = tree.get("kind") == "object" and same_kind(tree, _described(returned, before))
        return root if given else before
    if binding.takes("cache_k"):
        arrays = [
            root.part((s, key)) for s, key, below in _parts(tree) if below.get("kind") in ("array", "list")
        ]
        return (arrays[-2], arrays[-1]) if len(arrays) >= 2 else before
    if not binding.takes("cache") or tree.get("kind") not in _HOLDING:
        return before
    was = _described(returned, before)
    if _alike(tree, was, role):
        return root
    for step, key, below in reversed(_parts(tree)):
        if same_kind(below, was) or (
            step in ("k", "a") and str(key).lower() in ("cache", "kv_cache", "new_cache")
        ):
            return root.part((step, key))
    return _loose_pair(tree, root, was, before)


def _described(returned: Returned, before: State) -> Tree:
    """What the cache that was handed over is."""
    if isinstance(before, Handle):
        return returned.worker.describe(before)
    return {"kind": "tuple" if isinstance(before, tuple) else "none"}


def made_cache(returned: Returned, before: State) -> State:
    """The cache that a call gives though it was handed none: the container beside its other answer."""
    tree, root = returned.result.tree, returned.result.handle
    if tree.get("kind") not in ("tuple", "list", "dict"):
        return before
    for step, key, below in reversed(_parts(tree)):
        if same_kind(below, {"kind": "none"}):
            return root.part((step, key))
    return before


def _alike(tree: Tree, was: Tree, role: Role) -> bool:
    """Whether the whole result is the new cache: for roles that give nothing else."""
    if any(item.name in ("out", "logits") for item in role.returns):
        return False
    return same_kind(tree, was)


def same_kind(tree: Tree, was: Tree) -> bool:
    """Whether one description is of the same kind of container as another; any container is like None."""
    kind = tree.get("kind")
    if was.get("kind") == "none" or not was:
        return kind in _HOLDING
    if kind != was.get("kind") or kind in ("none", "array", "scalar", "int", "float", "bool", "str"):
        return False
    if kind == "object":
        return tree.get("type") == was.get("type")
    # A mutable container that is given back is the cache; two bare arrays beside a list are a view of it.
    return kind != "list" or len(_parts(tree)) == len(_parts(was)) or not was.get("parts")


def _loose_pair(tree: Tree, root: Handle, was: Tree, before: State) -> State:
    """(out, k, v) beside a cache that is a tuple, or none yet: the cache is the last two."""
    parts = _parts(tree)
    arrays = [root.part((step, key)) for step, key, below in parts if below.get("kind") == "array"]
    if was.get("kind") in ("tuple", "none") and len(arrays) == 3 and len(parts) == 3:
        return arrays[1], arrays[2]
    return before
