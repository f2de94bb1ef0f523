"""The ways in which prompt, tree and parents may be handed over, by canonical name.

A contract that says ``tree_parents`` leaves open what a root's parent is and whether lists
or arrays come. Every call offers all of them under names of their own; the binding says
which ones the submission takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from judge_tui.checks.binding import Argument, Binding
from judge_tui.checks.tasks.dflash_verify.trees import Tree, visibility

__all__ = ["given", "spellings"]

#: Canonical name → its name as an array.
_ARRAYS = {
    "prompt": "prompt_array",
    "tree_tokens": "tree_tokens_array",
    "tree_parents": "tree_parents_array",
    "parents_flat": "parents_flat_array",
    "parents_one_based": "parents_one_based_array",
}
#: Parents, and whether everything comes as arrays; likeliest first.
_WAYS = (
    ("tree_parents", False),
    ("parents_none", False),
    ("tree_parents", True),
    ("parents_flat", False),
    ("parents_flat", True),
    ("parents_one_based", False),
    ("parents_one_based", True),
)


def given(prompt: Sequence[int], tree: Tree) -> dict[str, Any]:
    """Prompt and tree under every canonical name.

    Args:
        prompt: Token ids.
        tree: What was drafted.
    """
    size = len(prompt)
    values: dict[str, Any] = {
        "prompt": list(prompt),
        "prompt_len": size,
        "tree_tokens": list(tree.tokens),
        "tree_parents": list(tree.parents),
        "parents_none": [None if p < 0 else p for p in tree.parents],
        "parents_flat": [size + p for p in tree.parents],
        "parents_one_based": [p + 1 for p in tree.parents],
        "num_nodes": len(tree),
        "tree_mask": visibility(size, tree.parents),
    }
    arrays = {array: np.array(values[name], dtype=np.int64) for name, array in _ARRAYS.items()}
    return {**values, **arrays}


def spellings(binding: Binding) -> Iterable[Binding]:
    """A binding with its arguments in each of the ways; as it is where a person wrote one of them out."""
    named = [*binding.args, *(binding.init or ())]
    if any(
        a.source in {*_ARRAYS.values(), *(parents for parents, _ in _WAYS[1:] if parents != "tree_parents")}
        for a in named
    ):
        yield binding
        return
    for parents, arrays in _WAYS:
        names = {"tree_parents": parents}
        if arrays:
            names = {
                name: _ARRAYS[names.get(name, name)] for name in ("prompt", "tree_tokens", "tree_parents")
            }
        init = None if binding.init is None else _renamed(binding.init, names)
        yield replace(binding, args=_renamed(binding.args, names), init=init)


def _renamed(arguments: Sequence[Argument], names: dict[str, str]) -> tuple[Argument, ...]:
    return tuple(replace(a, source=names.get(a.source, a.source)) for a in arguments)
