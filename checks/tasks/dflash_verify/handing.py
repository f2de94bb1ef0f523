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

from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.calling.remote import Carried
from judge_tui.checks.tasks.dflash_verify.trees import Tree, visibility
from judge_tui.checks.worker.border.codec import Encoder

__all__ = ["END_SOURCES", "ends", "given", "spellings"]

#: Canonical name → its name as an array.
_ARRAYS = {
    "prompt": "prompt_array",
    "tree_tokens": "tree_tokens_array",
    "tree_parents": "tree_parents_array",
    "parents_flat": "parents_flat_array",
    "parents_one_based": "parents_one_based_array",
}
#: What parents may be counted from, likeliest first; each may come as a list or as an array.
_PARENTS = ("tree_parents", "parents_none", "parents_flat", "parents_one_based")
#: Canonical name of what ends a text → how it may come, likeliest first: one id, one that is not negative
#: either where none is meant, a list, a set.
_ENDS = {
    "eos_token_id": ("eos_token_id", "eos_not_negative", "eos_token_ids", "eos_set"),
    "eos_token_ids": ("eos_token_ids", "eos_set", "eos_token_id"),
}
END_SOURCES = frozenset(source for sources in _ENDS.values() for source in sources)
#: Ids that no vocabulary has.
_NEVER, _BEYOND = -1, 1 << 30


def ends(eos: int | None = None) -> dict[str, Any]:
    """What ends a text under every canonical name.

    Args:
        eos: The id; ``None`` for one that never comes.
    """
    ids = [_BEYOND, _NEVER if eos is None else eos]
    return {
        "eos_token_id": ids[1],
        "eos_not_negative": _BEYOND if eos is None else eos,
        "eos_token_ids": ids,
        "eos_set": Carried(Encoder().encode(set(ids))),
    }


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
    return {**values, **arrays, **ends()}


def spellings(binding: Binding) -> Iterable[Sequence[Binding]]:
    """A binding with its arguments in each of the ways; as it is where a person wrote one of them out."""
    taken = next((name for name in _ENDS if binding.takes(name)), "")
    for source in _ENDS.get(taken, ("",)):
        yield from _parents(binding.handed(**{taken: source}) if source else binding)


def _parents(binding: Binding) -> Iterable[Sequence[Binding]]:
    """The same with parents, and lists or arrays, in each of the ways."""
    chosen = {*_ARRAYS.values(), *_PARENTS} - {"tree_parents"}
    if any(argument.source in chosen for argument in (*binding.args, *(binding.init or ()))):
        yield (binding,)
        return
    for parents in _PARENTS:
        names = {"prompt": "prompt", "tree_tokens": "tree_tokens", "tree_parents": parents}
        arrays = {name: _ARRAYS.get(source, "") for name, source in names.items()}
        ways = (names, arrays) if all(arrays.values()) else (names,)
        yield tuple(_renamed(binding, way) for way in ways)
    if binding.role == "mask" and binding.takes("prompt") and not binding.takes("prompt_len"):
        # What is called a prefix or a context may be how long it is: a mask needs no more of it.
        for parents in _PARENTS:
            yield (_renamed(binding, {"prompt": "prompt_len", "tree_parents": parents}),)


def _renamed(binding: Binding, names: dict[str, str]) -> Binding:
    def renamed(arguments: Sequence[Argument]) -> tuple[Argument, ...]:
        return tuple(replace(a, source=names.get(a.source, a.source)) for a in arguments)

    init = None if binding.init is None else renamed(binding.init)
    return replace(binding, args=renamed(binding.args), init=init)
