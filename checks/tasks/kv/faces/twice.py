"""Calls for one array at a time: one for keys, and another for values, of the same name or a like one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned, invoke
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.tasks.kv.words.block_roles import CHOSEN

__all__ = ["created", "invoked", "is_twice"]

#: Words of a call that gives keys alone → those of the one that gives values.
_COUNTERPART = {"k": "v", "ks": "vs", "key": "value", "keys": "values"}


def is_twice(binding: Binding) -> bool:
    """Whether a call is told of blocks, and takes a pool of keys or of values alone."""
    keys = binding.takes("cache_k") or binding.on == "cache_k"
    alone = keys and not (binding.takes("cache_v") or binding.takes("v"))
    return alone and any(binding.takes(name) for name in CHOSEN)


def created(worker: Worker, bound: Mapping[str, Binding], inputs: Mapping[str, Any], **how: Any) -> Handle:
    """What the cache is; a pair of two where a pool is for keys or for values, and is made alone."""
    made = [_created(worker, bound["create"], inputs, **how)]
    if any(is_twice(binding) for binding in bound.values()):
        if worker.describe(made[0]).get("kind") not in ("array", "object"):
            return made[0]
        made.append(_created(worker, bound["create"], inputs, **how))
        return worker.put(tuple(made))
    return made[0]


def _created(worker: Worker, create: Binding, inputs: Mapping[str, Any], **how: Any) -> Handle:
    returned = invoke(worker, create, inputs, **how)
    return returned.handle("cache") if returned.has("cache") else returned.result.handle


def invoked(worker: Worker, binding: Binding, inputs: Mapping[str, Any], **how: Any) -> Returned:
    """Call what plays a role, as :func:`~judge_tui.checks.calling.calls.invoke` does, or twice.

    Returns:
        Of two calls what both gave, keys first; the first alone where they gave nothing.
    """
    keys = invoke(worker, binding, inputs, **how)
    other = _for_values(binding) if keys.result.tree.get("kind") == "array" else None
    if is_twice(binding):
        other = replace(binding.handed(cache_k="cache_v", k="v"), on="cache_v" if binding.on else "")
    if other is None:
        return keys
    values = invoke(worker, other, inputs, **how)
    if values.result.tree.get("kind") == "none":
        return keys
    both = worker.put((keys.result.handle, values.result.handle))
    return replace(keys, result=replace(values.result, handle=both, tree=worker.describe(both)))


def _for_values(binding: Binding) -> Binding | None:
    """The call that reads values beside one that reads keys: ``get_values`` beside ``get_keys``."""
    if not binding.role.endswith("read"):
        return None
    owner, dot, own = binding.name.rpartition(".")
    words = own.split("_")
    named = "_".join(_COUNTERPART.get(word.lower(), word) for word in words)
    return replace(binding, name=f"{owner}{dot}{named}") if named != own else None
