"""What arguments and objects hold, before and after a call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.layouts import handed
from judge_tui.checks.calling.remote import Carried, Handle, Worker
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import BadResult
from judge_tui.checks.generic.purity.alterations import altered
from judge_tui.checks.tolerance import same_bits
from judge_tui.checks.worker.border.codec import decode

__all__ = ["Contents", "Path", "contents", "modified", "outputs", "overwritten", "path_text", "sent", "still"]

Path = tuple[tuple[str, Any], ...]

#: Path of a part of an object → the bytes of an array, or the scalar.
Contents = Mapping[Path, Any]


def sent(value: Any, returned: Returned) -> Any:
    """An argument as the call of ``returned`` handed it over: a list as it is, an array in its layout."""
    if isinstance(value, list):
        return value
    array = handed(value, returned.binding.layout)
    return np.ascontiguousarray(array, dtype=np.float64 if array.dtype.kind == "f" else array.dtype)


def overwritten(worker: Worker, handle: Handle, value: Any, returned: Returned) -> str:
    """How an argument was changed by the call; empty when it was not."""
    if isinstance(value, Carried):
        return "" if _equal(worker.carried(handle), decode(value.data)) else "modified"
    before = sent(value, returned)
    if isinstance(before, list):
        return "" if repr(worker.value(handle)) == repr(before) else "modified"
    try:
        after = worker.fetch(handle, before.shape, before.dtype)
        if same_bits(after, before):
            return ""
        how = altered(before, after)
        return f"modified: {how}" if how else "modified"
    except BadResult as fault:
        return f"modified ({fault.message.removeprefix('answered with ')})"


def _equal(one: Any, other: Any) -> bool:
    """Whether values are the same, item by item; NaN is itself."""
    if isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and same_bits(one, other)
    if isinstance(other, (list, tuple)):
        alike = type(one) is type(other) and len(one) == len(other)
        return alike and all(map(_equal, one, other))
    if isinstance(other, dict):
        alike = isinstance(one, dict) and list(one) == list(other)
        return alike and all(_equal(one[key], other[key]) for key in other)
    nans = isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other)
    return type(one) is type(other) and (nans or bool(one == other))


def contents(worker: Worker, handle: Handle) -> Contents:
    """Every array of an object by its bytes, and every scalar, by path."""
    values: dict[Path, Any] = {}
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


def still(before: Contents, after: Contents) -> Contents:
    """An object after one of its own methods: it may drop what it kept and count; arrays stay as they are."""
    dropped = {path: value for path, value in before.items() if path not in after}
    counts = {path: value for path, value in before.items() if not isinstance(value, bytes)}
    return {**after, **dropped, **counts}


def outputs(role: Role, binding: Binding) -> tuple[Path, ...]:
    """Where on an instance a role leaves its answers: they are no argument, whoever holds them."""
    told = tuple(source.steps for source in binding.returns.values() if source.of == "self" and source.steps)
    return (*told, *((("a", item.name),) for item in role.returns))


def modified(before: Contents, after: Contents, answers: Sequence[Path]) -> list[Path]:
    """The parts that are gone or different; what was added, filled in or is an answer does not count."""
    return [
        path
        for path, value in before.items()
        if not (value is None or any(path[: len(out)] == out for out in answers))
        and (path not in after or (after[path] != value and repr(after[path]) != repr(value)))
    ]


def path_text(path: Path) -> str:
    """A part as a reader would write it."""
    return "".join(f".{key}" if kind == "a" else f"[{key!r}]" for kind, key in path) or "its value"
