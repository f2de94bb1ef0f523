"""Finding what lets a sequence go, in a cache that is told of its sequences."""

from __future__ import annotations

import re

import numpy as np

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.finding.trials import BUDGET
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["settle"]

#: Names that promise a place for the next; what only ends a sequence may keep what it held.
_GIVES_BACK = re.compile(r"free|release|evict|dealloc", re.I)


def settle(search: Search, options: list[Binding]) -> None:
    """Bind ``free``: a call after which a sequence comes again; or one whose name promises that, and runs."""
    bound = search.bound
    if "add" not in bound or "free" in bound:
        return
    named = [option for option in options if option.takes("sequence")]
    went = [(option, _goes(search, {**bound, "free": option})) for option in named]
    for wanted in ("again", "went"):
        for option, how in went:
            if how == wanted and (how == "again" or _GIVES_BACK.search(option.name.rpartition(".")[2])):
                bound["free"] = option
                return


def _goes(search: Search, bound: Option) -> str:
    """``again`` where a sequence can go and come again, ``went`` where it can go, else empty."""
    how = ""
    with search.guess():
        cached = Cached(search.worker, bound, Sizes(max_len=32, layers=1), lambda: BUDGET)
        stream = drawn(np.random.default_rng(17), cached.sizes, 2)
        cached.feed(*stream, whole=False)
        cached.free(0)
        how = "went"
        cached.add(0)
        cached.feed(*stream, whole=False)
        return "again"
    return how
