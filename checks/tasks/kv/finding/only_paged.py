"""A paged cache that is the only one: taken for the cache that is asked for, with attention over it."""

from __future__ import annotations

import itertools
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

_FUSED = next(role for role in roles.ROLES if role.name == "step")
#: Appends to pages and attends over them.
_STEP = replace(
    _FUSED, avoid=tuple(word for word in _FUSED.avoid if word not in ("page", "block", "pool", "chunk"))
)
#: What makes a paged cache, is told of its tokens, and gives them back.
_STORED = ("create", "add", "reserve", "append", "advance", "read")
#: Pools that are tried with a call that feeds them and attends.
_POOLS = 3
_ATTENTION = next(role for role in roles.ROLES if role.name == "attention")


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
    bound, wrong = search.bound, Wrong()
    parts = parts_of(bound) or {}
    if are_objects(parts):
        parts = alone(search, parts)
    if not parts:
        return _fused(search)
    stored: Option = {n: parts[n] for n in _STORED if n in parts}
    owner = owner_of(search, {"create": stored["create"]} if "create" in stored else {})
    if "append" not in stored or owner is None:
        return wrong
    attends = [parts["attend"]] if "attend" in parts else []
    every = all_layers_go_in(stored)
    named_so = [] if chooses(parts) else matched(search, PARTS["attend"], owner=owner, stateful=True)[:3]
    for named in named_so:
        attends += [replace(named, role="attend", layout=layout) for layout in layouts(named, every)]
    combinations: list[Option] = [{**stored, "attend": attend} for attend in attends]
    for named in [] if chooses(parts) else matched(search, _STEP, owner=owner, stateful=True)[:3]:
        combinations += [
            {**stored, "step": replace(named, role="step", layout=layout)} for layout in layouts(named, every)
        ]
    if "read" in stored:
        combinations += [{**stored, "attention": attention} for attention in _plain(search)]
    combinations.append(stored)
    for option in combinations:
        if not mode(option):
            continue
        result = trials.steps(search, option)
        if result.right:
            if (room := _with_room(search, option)) is None:
                told = "takes fewer tokens than its blocks have room for"
                search.note("step", f"{option['append'].target}: {told}")
                return Wrong()
            bound.update({name: settled_by(binding, result) for name, binding in room.items()})
            return wrong
        placed = not may_be_misplaced(search.loaded, option, result.mistake)
        if result.ran and placed and {"attend", "attention"} & set(option):
            wrong.ran.append(option)
        if result.ran and chooses(stored) and {"attend", "attention"} & set(option):
            # what is told where tokens lie is called as it is meant
            wrong.meant = wrong.meant or option
        if result.mistake and placed and is_the_mistake(option, result.mistake, ticks=False):
            wrong.meant = wrong.meant or option
        noted(search, option, result)
    return wrong if chooses(stored) else Wrong()


def _fused(search: Search) -> Wrong:
    """Bind a pool that one call fills and attends over, and nothing else feeds; else tell what is wrong."""
    wrong = Wrong()
    for create in creates(search)[:_POOLS]:
        owner = owner_of(search, {"create": create})
        if owner is None:
            continue
        base = {"create": replace(create, role="create")}
        adds = [{}, *({"add": add} for add in matched(search, ADD, owner=owner, stateful=True)[:2])]
        every = all_layers_go_in(base)
        for named in matched(search, _STEP, owner=owner, stateful=True)[:3]:
            for add, layout in itertools.product(adds, layouts(named, every)):
                option = {**base, **add, "step": replace(named, role="step", layout=layout)}
                result = trials.steps(search, option)
                if result.right and (room := _with_room(search, option)) is not None:
                    search.bound.update({name: settled_by(each, result) for name, each in room.items()})
                    return Wrong()
                if result.mistake and is_the_mistake(option, result.mistake, ticks=False):
                    wrong.meant = wrong.meant or option
                noted(search, option, result)
    return wrong


def _plain(search: Search) -> list[Binding]:
    """Attention over keys and values, as they are read back of one sequence."""
    named = matched(search, _ATTENTION)[:2]
    return [replace(option, layout=layout) for option in named for layout in SOLO[:2] + LAYOUTS[:2]]


def _with_room(search: Search, option: Option) -> Option | None:
    """The same, made so that all it is told to hold goes in: a pool may keep one block for itself."""
    if trials.fills(search, option).ran or "create" not in option:
        return option
    wider = {**option, "create": option["create"].handed(blocks="blocks_and_one")}
    return wider if trials.fills(search, wider).ran else None
