"""Finding a submission's cache: which callables play together, and how they are fed.

Roles of a cache cannot be told one by one, because the axis order of one call shows only in the answer
of another. So names and signatures give candidates per role, and short runs (:mod:`.trial`) settle
which combination is meant.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from judge_tui.checks.binding import Binding
from judge_tui.checks.faults import Fault
from judge_tui.checks.remote import Worker
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv import attending, chunks, freeing, grouped, options, roles, trial
from judge_tui.checks.tasks.kv.decoder import models
from judge_tui.checks.tasks.kv.decoder.wires import LAYOUTS, SOLO
from judge_tui.checks.tasks.kv.paging.finding import parts_of
from judge_tui.checks.tasks.kv.paging.roles import ADD, FREE, PARTS
from judge_tui.checks.tasks.kv.reference import ORDERLY
from judge_tui.checks.tasks.kv.signatures import Owner, matched
from judge_tui.checks.tasks.kv.sizes import mode

__all__ = ["find"]

Inventories = Mapping[str, Mapping[str, Any]]
Found = dict[str, Binding]
_ROLES = {role.name: role for role in (*roles.ROLES, ADD, FREE)}
_MOST = 6
#: What tells a cache that a step is over: before attention, or after it.
_TICKS = ("advance", "advance_after")


def find(
    worker: Worker, loaded: Inventories, found: Found, rejected: dict[str, list[str]], fatal: dict[str, Fault]
) -> None:
    """Bind the roles that are not written by hand.

    Args:
        worker: Where the submission is.
        loaded: File → inventory.
        found: Role → binding; holds what is written, and is added to.
        rejected: Role → what was tried.
        fatal: Callables that ended the process when they were tried; added to.

    Raises:
        Fault: A trial ended the process.
    """
    for name, binding in list(found.items()):
        if binding.origin == ADAPTER:
            # An adapter may give back what the submission gives; where things are is seen at the call.
            found[name] = replace(binding, returns={})
    written = dict(found)
    tried = rejected.setdefault("step", [])
    best: tuple[Found, trial.Trial] | None = None
    meant: Found | None = None
    ran: list[Found] = []
    for combination, ticks in itertools.chain.from_iterable(
        _combinations(worker, loaded, written, create)
        for create in _creates(worker, loaded, written, rejected)
    ):
        for read in _readings(combination, written):
            result = trial.survived(fatal, read, partial(trial.steps, worker, read))
            if result.right:
                best = read, result
                break
            if result.mistake and _is_the_mistake(read, result.mistake, ticks):
                meant = meant or read
            if result.ran and mode(read) != "read" and not ticks:
                ran.append(read)
            if result.ran and _plainly_meant(read, ticks) and (best is None or result.error < best[1].error):
                best = read, result
            _noted(tried, read, result)
        if best is not None and best[1].right:
            break
    if best is not None:
        found.update({name: _tried(binding, best[1]) for name, binding in best[0].items()})
        _settle_lengths(worker, found, written)
        _settle_many(worker, loaded, found, written)
        _settle_lengths(worker, found, written)
        _settle_read(worker, loaded, found)
    for role in ("create", "append", "read", "attend"):
        rejected.setdefault(role, []).extend(tried)
    options.find(worker, loaded, found, rejected, fatal)
    models.find(worker, loaded, found, rejected, fatal)
    if not mode(found) and "decode" not in found:
        over_pages = _from_pages(worker, loaded, found, tried, fatal)
        ran += over_pages.ran
        meant = meant or over_pages.meant
        _settle_many(worker, loaded, found, written)
    if mode(found) in ("", "read") and "decode" not in found:
        # Attention that makes a usual mistake, or that nothing else can be, is attention all the same.
        own = meant
        if own is None and mode(found):
            own = attending.confirmed(worker, loaded, found, _beyond_doubt(ran))
        if own is not None:
            # What is settled about the storage stays, where it is the same storage.
            found.update({n: b for n, b in own.items() if n not in found or b.target != found[n].target})
            _settle_many(worker, loaded, found, written)
    if {"add", "create"} <= set(found) and (owner := _owner(worker, loaded, {"create": found["create"]})):
        freeing.settle(worker, found, matched(worker, loaded, FREE, owner=owner, stateful=True)[:_MOST])
    chunks.find(worker, loaded, found, rejected, fatal)
    grouped.find(worker, loaded, found, rejected, fatal)


def _from_pages(
    worker: Worker, loaded: Inventories, found: Found, tried: list[str], fatal: dict[str, Fault]
) -> _Wrong:
    """Take a paged cache that keeps what it is fed for the cache that is asked for, as there is no other.

    Args:
        worker: Where the submission is.
        loaded: File → inventory.
        found: Role → binding; added to.
        tried: What was tried; added to.
        fatal: Callables that ended the process; added to.

    Returns:
        Attention over it that runs and answers wrongly.
    """
    wrong = _Wrong()
    parts = parts_of(found) or {}
    stored: Found = {n: parts[n] for n in ("create", "add", "append", "read") if n in parts}
    owner = _owner(worker, loaded, {"create": stored["create"]} if "create" in stored else {})
    if "append" not in stored or owner is None:
        return wrong
    attends = [parts["attend"]] if "attend" in parts else []
    for named in matched(worker, loaded, PARTS["attend"], owner=owner, stateful=True)[:3]:
        attends += [replace(named, role="attend", layout=layout) for layout in _layouts(named)]
    combinations: list[Found] = [*({**stored, "attend": attend} for attend in attends), stored]
    for option in combinations:
        if not mode(option):
            continue
        result = trial.survived(fatal, option, partial(trial.steps, worker, option))
        if result.right:
            if (room := _with_room(worker, option)) is None:
                tried.append(f"{option['append'].target}: takes fewer tokens than its blocks have room for")
                return _Wrong()
            found.update({name: _tried(binding, result) for name, binding in room.items()})
            return wrong
        if result.ran and "attend" in option:
            wrong.ran.append(option)
        if result.mistake and _is_the_mistake(option, result.mistake, ticks=False):
            wrong.meant = wrong.meant or option
        _noted(tried, option, result)
    return _Wrong()


def _with_room(worker: Worker, option: Found) -> Found | None:
    """The same, made so that all it is told to hold goes in: a pool may keep one block for itself."""
    if trial.fills(worker, option) or "create" not in option:
        return option
    wider = {**option, "create": _renamed(option["create"], "blocks", "blocks_and_one")}
    return wider if trial.fills(worker, wider) else None


def _tried(binding: Binding, result: trial.Trial) -> Binding:
    """The binding, with what the trial that settled it showed."""
    told = "came out right" if result.right else "ran, nearest of all readings"
    return replace(binding, why=f"{binding.why}; five steps through it {told} (error {result.error:.1g})")


@dataclass(slots=True)
class _Wrong:
    """Attention that runs and answers wrongly.

    Attributes:
        ran: Combinations that ran to the end.
        meant: The first whose answers are those of a usual mistake.
    """

    ran: list[Found] = field(default_factory=list)
    meant: Found | None = None


def _is_the_mistake(read: Found, mistake: str, ticks: bool) -> bool:
    """Whether a usual mistake that every answer equals is the submission's, and not that of our reading.

    Args:
        read: The combination, as it was read.
        mistake: Words of the mistake.
        ticks: Whether it is a guess when the cache is advanced.
    """
    if ticks and mistake not in ORDERLY:
        return False
    # Answers that equal a wrong attention over what was fed prove the axis orders; zeros prove nothing.
    return mistake in ORDERLY or _plainly_meant(read, ticks)


def _plainly_meant(combination: Found, ticks: bool) -> bool:
    """Whether calls that answer wrongly are made as they are meant: one axis order, up to dropped axes."""
    orders = {binding.layout.replace("B", "").replace("D", "") for binding in combination.values()} - {
        "",
        "H",
    }
    return len(orders) <= 1 and not ticks


def _beyond_doubt(ran: Sequence[Found]) -> list[Found]:
    """Of wrong combinations those that cannot be read otherwise: one axis order, or none other that runs."""

    def calls(option: Found, *left_out: str) -> list[tuple[str, str, str]]:
        return [(n, b.target, "" if n in left_out else b.layout) for n, b in sorted(option.items())]

    def sole(option: Found) -> bool:
        own = calls(option, "attend")
        return "attend" in option and sum(calls(other, "attend") == own for other in ran) == 1

    return [option for option in ran if _plainly_meant(option, ticks=False) or sole(option)]


def _noted(tried: list[str], read: Found, result: trial.Trial) -> None:
    names = ", ".join(dict.fromkeys(f"{b.target}" for b in read.values()))
    said = result.said or f"runs, error {result.error:.2g}"
    line = f"{names}: {said}"
    if len(tried) < 24 and line not in tried:
        tried.append(line)


def _creates(
    worker: Worker, loaded: Inventories, written: Found, rejected: dict[str, list[str]]
) -> Iterator[Found]:
    """Ways to get a cache: written, a class, a function, and none at all (the first step makes it)."""
    if "create" in written:
        yield {"create": written["create"]}
        return
    if any(name in written for name in ("step", "append", "append_many")):
        yield {}
        return
    options = matched(worker, loaded, _ROLES["create"], constructors=True)
    for binding in options[:_MOST]:
        yield {"create": replace(binding, returns={})}
    yield {}


def _combinations(
    worker: Worker, loaded: Inventories, written: Found, base: Found
) -> Iterator[tuple[Found, bool]]:
    """Calls that may belong to a cache, fused or apart, and whether it is a guess when it is advanced."""
    owner = _owner(worker, loaded, base)
    if base and owner is None:
        return

    def options(name: str) -> list[Binding]:
        if name in written:
            return [written[name]]
        if name in (*_TICKS, "add") and _adapted(written):
            # An adapter that feeds the cache does whatever belongs to it.
            return []
        return matched(worker, loaded, _ROLES[name], owner=owner, stateful=name != "attention")[:_MOST]

    ticks = [name for name in _TICKS if name in written] or ["advance"]
    told = [{name: tick} for name in ticks for tick in options(name)]
    guessed = bool(told) and not set(_TICKS) & set(written)
    for tick in ({}, *told) if guessed or not told else told:
        for combination in _calls({**base, **tick}, written, options):
            yield combination, guessed
            if "advance" in tick and "attend" in combination and guessed:
                yield _advanced_after(combination), True


def _adapted(written: Found) -> bool:
    """Whether an adapter feeds the cache."""
    return any(
        name in written and written[name].origin == ADAPTER for name in ("step", "append", "append_many")
    )


def _advanced_after(combination: Found) -> Found:
    """The same, advanced once attention is over, not before it."""
    tick = replace(combination["advance"], role="advance_after")
    return {**{n: b for n, b in combination.items() if n != "advance"}, "advance_after": tick}


def _calls(base: Found, written: Found, options: Callable[[str], list[Binding]]) -> Iterator[Found]:
    for step in options("step"):
        yield from _told_of_sequences({**base, "step": step}, step, options)
    if "create" not in base and "append" not in written and "append_many" not in written:
        return
    appends = options("append") or ([written["append_many"]] if "append_many" in written else [])
    for append in appends:
        for pair in _told_of_sequences({**base, append.role: append}, append, options):
            yield from _attended(pair, written, options)
    # Storage alone is what is left when nothing attends over it.
    for append in appends:
        for pair in _told_of_sequences({**base, append.role: append}, append, options):
            for read in options("read"):
                yield {**pair, "read": read}


def _told_of_sequences(
    pair: Found, append: Binding, options: Callable[[str], list[Binding]]
) -> Iterator[Found]:
    """The same, and with what tells the cache of its sequences, where they go in one by one."""
    yield pair
    if append.takes("sequence"):
        for add in options("add")[:2]:
            yield {**pair, "add": add}


def _attended(pair: Found, written: Found, options: Callable[[str], list[Binding]]) -> Iterator[Found]:
    """Storage with attention over it."""
    for attend in options("attend"):
        yield {**pair, "attend": attend, **({"read": written["read"]} if "read" in written else {})}
    for attention in options("attention"):
        for read in [None, *options("read")]:
            yield {**pair, "attention": attention, **({"read": read} if read else {})}


def _owner(worker: Worker, loaded: Inventories, base: Found) -> Owner | None:
    """What a cache is: its class and the methods that it has."""
    if not base:
        return Owner()
    try:
        return Owner.of(worker, loaded, base["create"])
    except Fault:
        if not worker.alive:
            raise
        return None


def _readings(combination: Found, written: Found) -> Iterator[Found]:
    """The combination under every axis order that its calls allow; a written layout stays."""
    free = {
        name: _layouts(binding)
        for name, binding in combination.items()
        if name not in ("create", *_TICKS, "add") and not (name in written and binding.layout)
    }
    names = list(free)
    for chosen in sorted(itertools.product(*(range(len(free[name])) for name in names)), key=_uneven):
        yield {
            **combination,
            **{
                name: replace(combination[name], layout=free[name][index])
                for name, index in zip(names, chosen, strict=True)
            },
        }


def _uneven(indices: Sequence[int]) -> tuple[int, int]:
    return len(set(indices)), sum(indices)


def _layouts(binding: Binding) -> tuple[str, ...]:
    if binding.takes("sequence"):
        return (*SOLO[:3], "BHND", "BNHD")
    return (*LAYOUTS, *SOLO[:3])


def _settle_many(worker: Worker, loaded: Inventories, found: Found, written: Found) -> None:
    """Bind what takes several tokens at once, when there is such a thing."""
    one, many = ("step", "step_many") if "step" in found else ("append", "append_many")
    if many in found or one not in found:
        return
    owner = _owner(worker, loaded, {"create": found["create"]} if "create" in found else {})
    options = [
        option
        for option in matched(worker, loaded, _ROLES[many], owner=owner, stateful=True)[:_MOST]
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
        layouts = [found[one].layout] if option is same else _many_layouts(option, found[one].layout)
        for layout in layouts:
            if "N" not in layout:
                continue
            extra = {many: replace(option, layout=layout)}
            result = trial.held_many(worker, {**found, **extra})
            if result.right:
                found.update(extra)
                return
            # What says that it takes a prompt is judged as such, right or wrong.
            if result.ran and (option in named or (option is same and one == "step")):
                ran.append(extra)
    if ran:
        found.update(ran[0])


def _many_layouts(option: Binding, layout: str) -> list[str]:
    wide = layout if "N" in layout else layout.replace("H", "HN") if "H" in layout else layout
    orders = [wide, wide.replace("HN", "NH"), wide.replace("NH", "HN")]
    if option.takes("sequence"):
        # A prompt of one sequence has no batch axis though steps may have one; or one of length one.
        solo = [order.replace("B", "") for order in orders]
        orders = [*solo, *(f"B{order}" for order in solo)]
    return list(dict.fromkeys(orders))


def _settle_read(worker: Worker, loaded: Inventories, found: Found) -> None:
    """Bind what reads the cache back, where attention needs none of it: some checks look into the cache."""
    owner = _owner(worker, loaded, {"create": found["create"]} if "create" in found else {})
    if "read" in found or owner is None:
        return
    for option in matched(worker, loaded, _ROLES["read"], owner=owner, stateful=True)[:_MOST]:
        for layout in _layouts(option):
            extra = {"read": replace(option, layout=layout)}
            if trial.held(worker, {**found, **extra}).right:
                found.update(extra)
                return


def _settle_lengths(worker: Worker, found: Found, written: Found) -> None:
    """Whether lengths count what is new or what is stored: the reading under which ragged rows are right."""
    names: list[str] = [
        n for n in ("step", "step_many", "append", "append_many") if n in found and n not in written
    ]
    taking = [n for n in names if found[n].takes("lengths")]
    if not taking or trial.ragged(worker, found).right:
        return
    for source in ("totals", "before"):
        other = {n: _renamed(found[n], "lengths", source) for n in taking}
        if trial.ragged(worker, {**found, **other}).right:
            found.update(other)
            return


def _renamed(binding: Binding, old: str, new: str) -> Binding:
    return replace(
        binding, args=tuple(replace(a, source=new) if a.source == old else a for a in binding.args)
    )
