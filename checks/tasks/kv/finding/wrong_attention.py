"""Attention that answers wrongly over storage that is right: whether it is the attention that is asked for.

A callable that equals causal attention under no reading may be misread, or be another kind of
attention. It is judged all the same, and fails, where nothing is left to be misread: it takes the
queries by name, answers in their shape, is called in the axis order in which the same cache is proven
to keep what it is fed, and nothing in it speaks of another kind of attention.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.finding import trials
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.masks import texts_of
from judge_tui.checks.tasks.kv.words.sizes import mode

__all__ = ["confirmed"]

#: Other kinds of attention; what it does with q, k and v is then not for this contract to say.
_OTHER_KIND = re.compile(
    r"alibi|rope\b|rotary|relative|slid|window|sink|stream|linear|sparse|local|topk|top_k|evict|random|"
    r"drop|compress|low_?rank|sigmoid|relu|cosine|temperature|soft_?cap",
    re.I,
)


def confirmed(search: Search, bound: Option, options: Sequence[Option]) -> Option | None:
    """The first combination whose attention is meant beyond doubt, though its answers are wrong.

    Args:
        search: Whose attention it is.
        bound: A cache that is proven to give back what it is fed; bound without attention.
        options: Combinations with attention that ran to the end.
    """
    for option in options:
        main = option.get("step") or option.get("attend") or option.get("attention")
        if main is None or not _named(search, main) or _other_kind(search, main):
            continue
        if _stores(search, bound, option):
            return option
    return None


def _named(search: Search, binding: Binding) -> bool:
    """Whether its arrays are told by their names, not by their places."""
    if binding.origin != "found":
        return True
    needed = [param for param in roles.BY_NAME[binding.role].params if param.required]
    params = search.params(binding.target)
    return all(any(param.means(p["name"]) for p in params) for param in needed)


def _other_kind(search: Search, binding: Binding) -> bool:
    """Whether the callable's name or its own text speaks of another kind of attention."""
    if binding.file == ADAPTER:
        return False
    texts = texts_of(search.worker.submission, binding)
    return bool(_OTHER_KIND.search("\n".join([binding.name, *texts])))


def _stores(search: Search, bound: Option, option: Option) -> bool:
    """Whether what the attention works on is the storage that was proven right, in the same axis order."""
    if not _same(bound, option, "create", "advance", "advance_after"):
        return False
    kind = mode(option)
    if kind in ("attend", "attention"):
        parts = ("append",) if kind == "attend" else ("append", "read")
        return _same(bound, option, *parts)
    if option["step"].layout != bound.get("append", bound["read"]).layout:
        return False
    return trials.held(search, {**option, "read": bound["read"]}).right


def _same(bound: Option, option: Option, *names: str) -> bool:
    """Whether the same callables play these roles in the same axis order."""
    told = [
        [(b.target, b.layout) if (b := one.get(name)) else None for name in names] for one in (bound, option)
    ]
    return told[0] == told[1]
