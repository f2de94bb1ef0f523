"""What is bound once a cache is found: several tokens at once, reading it back, what lengths count."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.calling.binding import Argument, Binding
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.tasks.kv.faces.cached import TICKS
from judge_tui.checks.tasks.kv.finding import trial
from judge_tui.checks.tasks.kv.finding.advancing import miscounts
from judge_tui.checks.tasks.kv.finding.combinations import MOST, owner_of
from judge_tui.checks.tasks.kv.finding.readings import (
    ASIDE,
    all_layers_go_in,
    layouts,
    many_layouts,
    renamed,
)
from judge_tui.checks.tasks.kv.finding.signatures import matched
from judge_tui.checks.tasks.kv.words import roles

__all__ = ["settle_lengths", "settle_many", "settle_read"]

Inventories = Mapping[str, Mapping[str, Any]]
Found = dict[str, Binding]
_ROLES = {role.name: role for role in roles.ROLES}
_COUNTS = re.compile(r"(?i)fresh|new|count|lens?$|lengths?$|valid|real|num|^n_")
#: Parameters of unknown name that are tried.
_MOST_UNNAMED = 3


def settle_many(worker: Worker, loaded: Inventories, found: Found, written: Found) -> None:
    """Bind what takes several tokens at once, when there is such a thing."""
    one, many = ("step", "step_many") if "step" in found else ("append", "append_many")
    if many in found or one not in found:
        return
    owner = owner_of(worker, loaded, {"create": found["create"]} if "create" in found else {})
    options = [
        option
        for option in matched(worker, loaded, _ROLES[many], owner=owner, stateful=True)[:MOST]
        if option.target != found[one].target and option.on == found[one].on
    ] if owner else []  # fmt: skip
    named = [
        o
        for o in options
        if "prefill" in o.name.lower() or "many" in o.name.lower() or "seq" in o.name.lower()
    ]
    same = replace(found[one], role=many)
    ran: list[Found] = []
    for option in [*named, same, *(o for o in options if o not in named)]:
        orders = many_layouts(option, found[one].layout)
        if option is same and not ("L" in found[one].layout and "N" not in found[one].layout):
            orders = [found[one].layout]
        for layout in orders:
            if "N" not in layout:
                continue
            extra = {many: replace(option, layout=layout)}
            result = trial.held_many(worker, {**found, **extra})
            if result.right:
                found.update(extra)
                return
            # What says that it takes a prompt is judged as such, right or wrong; so is what is advanced
            # by another number than it is told.
            meant = option in named or (option is same and one == "step")
            if result.ran and (meant or (option is same and miscounts(worker, {**found, **extra}, 4))):
                ran.append(extra)
    if ran:
        found.update(ran[0])


def settle_read(worker: Worker, loaded: Inventories, found: Found) -> None:
    """Bind what reads the cache back, where attention needs none of it: some checks look into the cache."""
    owner = owner_of(worker, loaded, {"create": found["create"]} if "create" in found else {})
    if "read" in found or owner is None:
        return
    every = all_layers_go_in(found)
    for option in matched(worker, loaded, _ROLES["read"], owner=owner, stateful=True)[:MOST]:
        for layout in layouts(option, every):
            extra = {"read": replace(option, layout=layout)}
            if trial.held(worker, {**found, **extra}).right:
                found.update(extra)
                return


def settle_lengths(worker: Worker, loaded: Inventories, found: Found, written: Found) -> None:
    """Whether lengths count what is new or what is stored: the reading under which ragged rows are right."""
    names: list[str] = [
        n for n in ("step", "step_many", "append", "append_many") if n in found and n not in written
    ]
    _settle_counts(worker, loaded, found, names, written)
    taking = [n for n in names if found[n].takes("lengths") or found[n].takes("bounds")]
    for tick in (n for n in TICKS if n in found and n not in written and found[n].takes("count")):
        each = {tick: renamed(found[tick], "count", "lengths")}
        if trial.ragged(worker, {**found, **each}).right:
            found.update(each)
            return
    if not taking or trial.ragged(worker, found).right:
        return
    packed = _packed(found, names)
    if packed and trial.ragged(worker, {**found, **packed}).right:
        found.update(packed)
        return
    for source in ("totals", "before"):
        other = {n: renamed(found[n], "lengths", source) for n in taking}
        if trial.ragged(worker, {**found, **other}).right:
            found.update(other)
            return


def _settle_counts(
    worker: Worker, loaded: Inventories, found: Found, feeding: list[str], written: Found
) -> None:
    """Hand the new tokens of each sequence to what its name does not show to take them.

    What feeds the cache is told by a parameter under which ragged rows are right; attention then by one whose
    name speaks of numbers, for its steps are right without it as well.
    """
    for names in (feeding, ["attend"] if feeding and "attend" in found and "attend" not in written else []):
        calls = {name: found[name] for name in names}
        if not calls or any(_tells_apart(binding) for binding in calls.values()):
            continue
        if names != feeding and not any(found[name].takes("lengths") for name in feeding):
            return
        for parameter in _unnamed(loaded, calls):
            if names != feeding and not _COUNTS.search(parameter):
                continue
            told = Argument("lengths", keyword=parameter)
            each = {name: replace(binding, args=(*binding.args, told)) for name, binding in calls.items()}
            if trial.ragged(worker, {**found, **each}).right:
                found.update(each)
                break


def _tells_apart(binding: Binding) -> bool:
    """Whether a call is told of each sequence by itself, or takes one alone."""
    told = (
        "lengths", "totals", "bounds", "active", "positions", "first_positions", "query_positions", "rows",
        "sequence",
    )  # fmt: skip
    return "B" not in binding.layout or any(binding.takes(name) for name in told)


def _unnamed(loaded: Inventories, calls: Found) -> list[str]:
    """Parameters that all of some calls have, which are None by default and are not handed over."""
    params = {f"{each.file}:{each.name}": each.params for each in callables(loaded)}
    open_ = [
        [
            str(p["name"])
            for p in params.get(binding.target, ())
            if "default" in p and p["default"] is None and not ASIDE.search(p["name"])
            if p["name"] not in {argument.keyword for argument in binding.args}
        ]
        for binding in calls.values()
    ]
    return [name for name in open_[0] if all(name in others for others in open_)][:_MOST_UNNAMED]


def _packed(found: Found, feeding: list[str]) -> Found:
    """The same calls with the tokens of all sequences behind each other; nothing where they cannot be.

    Of one token each they look like a batch without an axis of tokens.
    """
    calls = {n: found[n] for n in (*feeding, "attend") if n in found}
    if any(binding.layout != "BHD" for binding in calls.values()):
        return {}
    several = {
        many: found[one] for one, many in (("step", "step_many"), ("append", "append_many")) if one in calls
    }
    return {n: replace(binding, role=n, layout="PHD") for n, binding in {**several, **calls}.items()}
