"""Finding sequences that are objects of their own, made over a pool that they share.

``Sequence(pool)`` has methods that take keys and values and give them back; attention is handed a sequence.
The pool is what is told of blocks when it is made; a sequence is what is made of a pool alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.calling.binding import Argument, Binding, Source
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.tasks.kv.faces.pool import PoolSizes
from judge_tui.checks.tasks.kv.finding.signatures import Owner, as_argument, constructors, matched
from judge_tui.checks.tasks.kv.finding.trials import BUDGET
from judge_tui.checks.tasks.kv.words.block_roles import CREATE
from judge_tui.checks.tasks.kv.words.paging_roles import PARTS
from judge_tui.checks.tasks.kv.words.parameters import CACHE, takes
from judge_tui.checks.tasks.kv.words.sequence_roles import ADD

__all__ = ["alone", "are_objects", "opened"]

#: What a call hands out as a sequence is one.
_GIVEN = {"sequence": Source()}
#: What a sequence calls the pool that it is made over.
_POOL = takes(
    CACHE.name,
    f"{' '.join(CACHE.aliases)} allocator alloc block_allocator block_pool page_pool manager block_manager "
    "page_manager blocks pages mgr page_allocator kv_allocator memory owner parent",
    "handle",
    required=True,
)
#: What makes one: any class, made of a pool, and what gives one by the name of its call.
_MADE = replace(ADD, params=(_POOL, *ADD.params), patterns=(r"",), avoid=())
_SEQUENCE = "sequence"

Calls = Callable[[str], list[Binding]]


def are_objects(bound: Option) -> bool:
    """Whether sequences of a pool are objects."""
    return any(binding.on == _SEQUENCE for binding in bound.values())


def opened(search: Search) -> Iterator[tuple[Binding, Calls]]:
    """Pools with sequences over them.

    Yields:
        What makes the pool, and a function that gives candidates for each of its parts.
    """
    classes = constructors(search.loaded)
    takers = [
        binding
        for binding in matched(search, _MADE, classes=True)
        if (binding.file, binding.name) in classes and binding.takes(CACHE.name)
    ]
    if not takers:
        return
    for pool in matched(search, CREATE, classes=True):
        if not all(pool.takes(name) for name in ("blocks", "block_size", "head_dim")):
            continue
        for taker in takers:
            if taker.target != pool.target and (kind := _kind(search, pool, taker)):
                yield replace(pool, returns={}), _parts(search, replace(taker, returns=_GIVEN), kind)


def _kind(search: Search, pool: Binding, taker: Binding) -> Owner | None:
    """What a sequence over a pool is; ``None`` where it cannot be made of one."""
    with search.guess():
        inputs = PoolSizes().inputs()
        made = invoke(search.worker, pool, inputs, budget=BUDGET).result.handle
        over = invoke(
            search.worker, taker, {**inputs, "cache": made, _SEQUENCE: 0, "count": 0}, budget=BUDGET
        )
        owner = Owner.seen(over.result.tree)
        return owner if owner.kind == taker.name else None
    return None


def _parts(search: Search, taker: Binding, kind: Owner) -> Calls:
    """Candidates by part: methods of a sequence, and functions that are handed one."""

    def calls(part: str) -> list[Binding]:
        if part == "add":
            return [replace(taker, role="add")]
        if part in ("reserve", "advance"):
            return []
        named = matched(search, PARTS[part], owner=kind, stateful=True, on=_SEQUENCE)
        # what takes one may call it a cache
        named += [
            one.handed(cache=_SEQUENCE) for one in matched(search, PARTS[part], stateful=True) if not one.on
        ]
        returns = _GIVEN if part == "fork" else {}
        return [replace(_plain(one), returns=returns) for one in named if one.on or one.takes(_SEQUENCE)]

    return calls


def _plain(binding: Binding) -> Binding:
    """The same without the ids of tokens, which a sequence need not be told of."""
    args = binding.args
    while args and args[-1].source in ("token", "prompt"):
        args = args[:-1]
    return replace(binding, args=args)


def alone(search: Search, parts: Option) -> Option:
    """The same parts as a cache of one sequence, over a pool of its own; none where that cannot be said."""
    made, pool = parts["add"], as_argument(search, parts["create"])
    if pool is None:
        return {}
    # of a pool of its own it is the only sequence
    place = {CACHE.name: pool, _SEQUENCE: Argument("", literal=0), "count": Argument("max_len")}
    args = tuple(replace(place.get(a.source, a), keyword=a.keyword) for a in made.args)
    create = replace(made, role="create", args=args, returns={})
    own = {name: parts[name] for name in ("append", "read", "attend", "append_many") if name in parts}
    return {
        "create": create,
        **{n: replace(b.handed(sequence="cache"), on=b.on and "cache") for n, b in own.items()},
    }
