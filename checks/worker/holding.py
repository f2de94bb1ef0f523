"""What an object holds: its arrays and scalars, whose memory they are, and how many bytes that is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import arrays, describe
from .values import owner_of, share_memory

__all__ = ["footprint", "listed"]

_MOST_LISTED = 512


def listed(value: Any, inputs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Arrays and scalars under an object; of arrays also whose memory they are.

    Args:
        value: The object.
        inputs: Name → array; each entry says which of them it shares memory with.
    """
    found: list[dict[str, Any]] = []
    seen: list[tuple[int, Any]] = []
    for path, part in describe.leaves(value):
        entry = {"path": path, **describe.describe(part, depth=0)}
        if isinstance(part, (list, tuple)):
            whole = np.asarray(arrays.hosted(part))
            entry = {
                "path": path,
                "kind": "list",
                "shape": list(whole.shape),
                "dtype": str(whole.dtype),
                "nbytes": whole.nbytes,
            }
        if arrays.is_array(part):
            entry["inputs"] = [name for name, other in inputs.items() if share_memory(part, other)]
            entry["same_as"] = next((index for index, other in seen if share_memory(part, other)), None)
            seen.append((len(found), part))
            owner = owner_of(part)
            entry["base"], entry["base_nbytes"] = id(owner), owner.nbytes
        found.append(entry)
    return found[:_MOST_LISTED]


def footprint(value: Any) -> int:
    """Bytes of all that an object keeps: memory behind several views once, and 8 for a Python float."""
    owners: dict[int, int] = {}
    floats = 0
    for _path, part in describe.leaves(value):
        if arrays.is_array(part):
            owner = owner_of(part)
            owners[id(owner)] = owner.nbytes
        elif isinstance(part, (list, tuple)):
            floats += np.asarray(arrays.hosted(part)).nbytes
        elif isinstance(part, (float, np.floating)):
            floats += 8
    return floats + sum(owners.values())
