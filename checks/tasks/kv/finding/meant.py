"""Whether a decoder that answers wrongly was called as it is meant to be, so that its answers count."""

from __future__ import annotations

import re

import numpy as np

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.tasks.kv.faces.answers import carries
from judge_tui.checks.tasks.kv.faces.leaves import leaves, roots, whole_numbers
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.finding.borrowed_caches import BorrowedCaches
from judge_tui.checks.tolerance import relative_error

__all__ = ["consistent", "is_meant"]

_BUDGET = 8.0
_SAME = 1e-4
#: Names that do not say that a whole prompt of a whole model goes in.
_VAGUE = re.compile(r"(?i)^(step|decode|next|feed|extend)|_(forward|apply)$")
#: Names of what computes a text as a whole.
_WHOLE = re.compile(r"(?i)^(forward|logits|full\w*|score\w*|__call__)$")
_MASK = re.compile(r"(?i)mask|causal")
_CACHE = re.compile(r"(?i)cache|past_?k|kv_?(store|buf)")


def is_meant(search: Search, option: Option, caches: BorrowedCaches) -> bool:
    """Whether answers that differ from a longer prefill are the decoder's own mistake.

    One call for all that says nothing of a cache may be misread. What is called after a step, or after a part
    of a model, may take no prompt at once; what takes a mask may want a causal one; a cache that is not made
    for the decoder may be the wrong one. Then the rows of a prompt have to be those of a longer one. A cache
    that is handed over may want to be told that a step is over: a prompt has to move what it counts. What is
    named as for whole texts, and answers a token as if there were no prompt, is no step.
    """
    prefill, decode = option["prefill"], option["decode"]
    if _WHOLE.search(decode.name.rpartition(".")[2]) and _stands_alone(search, option):
        return False
    if prefill.target == decode.target and not (carries(decode) or decode.takes("use_cache")):
        return _keeps_a_cache(search, option)
    vague = bool(_VAGUE.search(prefill.name.rpartition(".")[2])) or _takes_mask(search, prefill)
    with search.guess():
        if (vague or caches.lent(option)) and not consistent(search, option, vague):
            # What needs no mask where no cache is asked for is not misread where one is.
            if caches.lent(option) or not _causal_without_cache(search, option):
                return False
        return not {"state", "states"} & set(option) or _counted(search, option)
    return False


def _stands_alone(search: Search, option: Option) -> bool:
    """Whether a step that is handed no cache answers the same without a prompt before it."""
    decode = option["decode"]
    if option["prefill"].target == decode.target or carries(decode) or decode.takes("cache_k"):
        return False
    with search.guess():
        make = Maker(search.worker, option, lambda: _BUDGET)
        behind, alone = make(1), make(1)
        given = behind.draw(np.random.default_rng(24), 4)
        behind.prefill(given[:, :3])
        return relative_error(behind.decode(given[:, 3]), alone.decode(given[:, 3])) <= _SAME
    return False


def _takes_mask(search: Search, binding: Binding) -> bool:
    """Whether a call has a parameter for a mask, or to ask for one."""
    return any(_MASK.search(param["name"]) for param in search.params(binding.target))


def _keeps_a_cache(search: Search, option: Option) -> bool:
    """Whether one call for all is told its position, and its model holds arrays that are called a cache."""
    if not (option["prefill"].takes("position") and option["decode"].takes("position")):
        return False
    model = Maker(search.worker, option, lambda: _BUDGET)(1).model
    held = leaves(search.worker, model) if model is not None else ()
    return any(_CACHE.search(str(key)) for leaf in held for _kind, key in leaf.path)


def consistent(search: Search, option: Option, needed: bool) -> bool:
    """Whether the rows of a prompt are those of a longer one; where only the last is given, if not needed."""
    make = Maker(search.worker, option, lambda: _BUDGET)
    given = make(1).draw(np.random.default_rng(17), 5)
    rows = make(1).prefill_rows(given)
    if rows is None:
        return not needed
    return relative_error(make(1).prefill(given[:, :3]), rows[:, 2]) <= _SAME


def _causal_without_cache(search: Search, option: Option) -> bool:
    """Whether the same call, asked for no cache, gives rows of a prompt that are those of a longer one."""
    prefill = option["prefill"]
    if not prefill.takes("use_cache"):
        return False
    return consistent(search, {**option, "prefill": prefill.handed(use_cache="no_cache")}, needed=True)


def _counted(search: Search, option: Option) -> bool:
    """Whether a prompt moves what its cache counts; true where that counts nothing, or is told positions."""
    if all(
        option[name].takes("position") or option[name].takes("positions") for name in ("prefill", "decode")
    ):
        return True
    decoder = Maker(search.worker, option, lambda: _BUDGET)(1)
    numbers, shapes = whole_numbers(search.worker, roots(decoder.state))
    decoder.prefill(decoder.draw(np.random.default_rng(18), 3))
    after, others = whole_numbers(search.worker, roots(decoder.state))
    same = shapes == others and all(np.array_equal(numbers[path], after[path]) for path in numbers)
    return not (numbers and same)
