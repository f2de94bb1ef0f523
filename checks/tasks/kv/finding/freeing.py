"""Finding what lets a sequence go, in a cache that is told of its sequences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np

from judge_tui.checks.binding.solver import Family, Option, Search, Trial, trial
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.finding.trials import BUDGET
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["found", "settle"]

#: Names that promise a place for the next; what only ends a sequence may keep what it held.
_GIVES_BACK = re.compile(r"free|release|evict|dealloc", re.I)
#: What a sequence that comes again may read of the one before it.
_NEAR = 1e-2


def found(
    search: Search,
    base: Option,
    frees: Iterable[Binding],
    comes_again: Callable[[Search, Option], Trial],
    meant: Callable[[Binding], bool] = lambda free: True,
) -> Option:
    """A call after which a sequence comes again; else one that runs, and is meant so.

    Args:
        search: Where is looked.
        base: The cache.
        frees: What may let a sequence go.
        comes_again: Runs it; an infinite error says that the sequence went, and did not come again.
        meant: Whether one is that only runs.
    """
    family = Family(
        "free",
        lambda _: ({**base, "free": free} for free in frees),
        comes_again,
        meant=lambda _search, option, _result: meant(option["free"]),
        right=_NEAR,
        claims=lambda _: False,
    )
    settled = search.settle(family)
    return {"free": settled[0]["free"]} if settled else {}


def settle(search: Search, options: list[Binding]) -> None:
    """Bind ``free``: a call after which a sequence comes again; or one whose name promises that, and runs."""
    bound = search.bound
    if "add" in bound and "free" not in bound:
        named = [option for option in options if option.takes("sequence")]
        bound.update(found(search, bound, named, _comes_again, _promises))


def _promises(free: Binding) -> bool:
    return bool(_GIVES_BACK.search(free.name.rpartition(".")[2]))


@trial
def _comes_again(search: Search, bound: Option) -> float:
    """A sequence goes and comes again."""
    cached = Cached(search.worker, bound, Sizes(max_len=32, layers=1), lambda: BUDGET)
    stream = drawn(np.random.default_rng(17), cached.sizes, 2)
    cached.feed(*stream, whole=False)
    cached.free(0)
    with search.guess():
        cached.add(0)
        cached.feed(*stream, whole=False)
        return 0.0
    return float("inf")
