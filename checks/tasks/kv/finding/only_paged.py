"""A paged cache that is the only one: taken for the cache that is asked for, with attention over it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from judge_tui.checks.binding.solver import Option, Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.tasks.kv.faces.axis_orders import LAYOUTS, SOLO
from judge_tui.checks.tasks.kv.faces.block_tables import chooses
from judge_tui.checks.tasks.kv.finding import trials
from judge_tui.checks.tasks.kv.finding.combinations import owner_of
from judge_tui.checks.tasks.kv.finding.paged import creates, parts_of
from judge_tui.checks.tasks.kv.finding.readings import (
    all_layers_go_in,
    is_the_mistake,
    layouts,
    may_be_misplaced,
)
from judge_tui.checks.tasks.kv.finding.sequence_objects import alone, are_objects
from judge_tui.checks.tasks.kv.finding.signatures import matched
from judge_tui.checks.tasks.kv.finding.trials import noted, settled_by
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.paging_roles import PARTS
from judge_tui.checks.tasks.kv.words.sequence_roles import ADD
from judge_tui.checks.tasks.kv.words.sizes import mode

__all__ = ["Wrong", "from_pages"]

_FUSED = roles.BY_NAME["step"]
#: Appends to pages and attends over them.
_STEP = replace(
    _FUSED, avoid=tuple(word for word in _FUSED.avoid if word not in ("page", "block", "pool", "chunk"))
)
#: What makes a paged cache, is told of its tokens, and gives them back.
_STORED = ("create", "add", "reserve", "append", "advance", "read")
#: Pools that are tried with a call that feeds them and attends.
_POOLS = 3


@dataclass(slots=True)
class Wrong:
    """Attention that runs and answers wrongly.

    Attributes:
        ran: Combinations that ran to the end.
        meant: The first whose answers are those of a usual mistake.
    """

    ran: list[Option] = field(default_factory=list)
    meant: Option | None = None


def from_pages(search: Search) -> Wrong:
    """Take a paged cache that keeps what it is fed for the cache that is asked for, as there is no other.

    Returns:
        Attention over it that runs and answers wrongly.
    """
    parts, wrong = parts_of(search.bound) or {}, Wrong()
    if are_objects(parts):
        parts = alone(search, parts)
    for option in _over(search, parts) if parts else _fused(search):
        result = trials.steps(search, option)
        if result.right:
            if (room := _with_room(search, option)) is None:
                told = "takes fewer tokens than its blocks have room for"
                search.note("step", f"{option['append'].target}: {told}")
                return Wrong()
            search.bound.update({name: settled_by(binding, result) for name, binding in room.items()})
            return wrong
        placed = not may_be_misplaced(search, option, result.mistake)
        attends = result.ran and {"attend", "attention"} & set(option)
        if attends and placed:
            wrong.ran.append(option)
        # what is told where tokens lie is called as it is meant
        mistaken = result.mistake and placed and is_the_mistake(option, result.mistake, ticks=False)
        if mistaken or (attends and chooses(parts)):
            wrong.meant = wrong.meant or option
        noted(search, option, result)
    return wrong if not parts or chooses(parts) else Wrong()


def _over(search: Search, parts: Option) -> Iterator[Option]:
    """A pool with what attends over it, and alone."""
    stored: Option = {n: parts[n] for n in _STORED if n in parts}
    owner, every = owner_of(search, stored), all_layers_go_in(stored)
    if "append" not in stored or owner is None:
        return
    if "attend" in parts:
        yield {**stored, "attend": parts["attend"]}
    for role in () if chooses(parts) else (replace(PARTS["attend"], name="attend"), _STEP):
        for named in matched(search, role, owner=owner, stateful=True)[:3]:
            for layout in layouts(named, every):
                yield {**stored, role.name: replace(named, layout=layout)}
    if "read" in stored:
        yield from ({**stored, "attention": attention} for attention in _plain(search))
    if mode(stored):
        yield stored


def _fused(search: Search) -> Iterator[Option]:
    """Pools that one call fills and attends over, and nothing else feeds."""
    for create in creates(search)[:_POOLS]:
        base = {"create": replace(create, role="create")}
        owner, every = owner_of(search, base), all_layers_go_in(base)
        if owner is None:
            continue
        adds = [{}, *({"add": add} for add in matched(search, ADD, owner=owner, stateful=True)[:2])]
        for named in matched(search, _STEP, owner=owner, stateful=True)[:3]:
            for add, layout in itertools.product(adds, layouts(named, every)):
                yield {**base, **add, "step": replace(named, layout=layout)}


def _plain(search: Search) -> list[Binding]:
    """Attention over keys and values, as they are read back of one sequence."""
    named = matched(search, roles.BY_NAME["attention"])[:2]
    return [replace(option, layout=layout) for option in named for layout in SOLO[:2] + LAYOUTS[:2]]


def _with_room(search: Search, option: Option) -> Option | None:
    """The same, made so that all it is told to hold goes in: a pool may keep one block for itself."""
    if trials.fills(search, option).ran or "create" not in option:
        return option
    wider = {**option, "create": option["create"].handed(blocks="blocks_and_one")}
    return wider if trials.fills(search, wider).ran else None
