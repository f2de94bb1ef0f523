"""What code calls the axes of inputs: which axis a name in a condition means."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["axis_of", "is_no_size"]

#: Axis → its usual names, lowercase. Where a task has several that a name fits, the first one is meant.
_NAMES = {
    "K": r"k|top_?k|k_?top|num_?k|n_?top|kk",
    "V": r"v|n_?vocab|vocab\w*|vv|n|n?_?cols?|columns|width|row_?len\w*"
    r"|(n_?|num_?)?(experts?|classes|logits)",
    "rows": r"(n_?|num_?)?(rows?|tokens?)|b|batch\w*|bt|b_?t|m|t|seq\w*",
    "B": r"b|bs|bsz|(n_?|num_?|max_?)?batch\w*|(n_?|num_?)sequences|bb",
    "H": r"h|(n_?|num_?|q_?|kv_?)*heads?|n?h_?(q|kv)?|hh",
    "N": r"n|s|l|(n|s|l)_?(q|k|kv)|(max_?)?seq\w*|length|(q_?|kv_?|k_?)len|n_?ctx|context\w*|nn",
    "S": r"s|l|(max_?)?(seq\w*|len\w*|tokens)|capacity|window|context\w*",
    "T": r"t|tile\w*|block\w*|b_?[rc]|seq\w*|(n_?|num_?)?(steps|tokens)|time|length|tt",
    "in": r"in|in_?\w*|fan_?in|d_?in|n?_?cols?|columns|k|width",
    "out": r"out|out_?\w*|fan_?out|d_?out|(n_?)?rows?|m|n",
    "D": r"d|(head_?)?dims?|d_?(k|v|h|head|model)|dh|hd|head_?size|hidden\w*|(n_?|num_?)?features?|width"
    r"|channels?|c|n?_?embd?|embed\w*|normalized\w*|cols?|columns|dd",
}  # fmt: skip
#: Names of what is no size of an axis.
_NO_SIZE = re.compile(
    r"ndim|rank|dim\(\)|itemsize|nbytes|(n_?)?bits?|version|seed|lane\w*|warp\w*|thread\w*|[xyz]|tid|idx|index|[ij]"
)


def is_no_size(name: str) -> bool:
    """Whether a name is usual for what is no size of an axis."""
    return _NO_SIZE.fullmatch(name.lower()) is not None


def axis_of(name: str, axes: Iterable[str]) -> str:
    """The axis that a name means; empty where it means none of them.

    Args:
        name: As code writes it.
        axes: Those of a task.
    """
    known = set(axes)
    lower = name.lower()
    if same := next((axis for axis in known if axis.lower() == lower), ""):
        return same
    fits = (axis for axis, names in _NAMES.items() if axis in known and re.fullmatch(names, lower))
    return next(fits, "")
