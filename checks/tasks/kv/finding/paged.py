"""Finding a submission's paged cache: what makes it, feeds it, reads it and lets sequences go."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from judge_tui.checks.binding.solver import Family, Option, Search, Trial, trial
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.contract import Role
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces import batched
from judge_tui.checks.tasks.kv.faces.block_tables import chooses
from judge_tui.checks.tasks.kv.faces.pool import PoolSizes
from judge_tui.checks.tasks.kv.finding import chosen_blocks, freeing, sequence_objects, sharing
from judge_tui.checks.tasks.kv.finding.pool_trials import NEAR, Play, off, played, playing
from judge_tui.checks.tasks.kv.finding.readings import all_layers_go_in, layouts, many_layouts
from judge_tui.checks.tasks.kv.finding.signatures import Owner, matched
from judge_tui.checks.tasks.kv.finding.trials import BUDGET
from judge_tui.checks.tasks.kv.words.paging_roles import CODED, PARTS, ROLES

__all__ = ["creates", "find", "in_blocks", "parts_of"]

Calls = Callable[[str], list[Binding]]
#: Three tokens of one sequence, in a block of four: one by one, or with one call.
_ONE_BY_ONE = Play(((0, 3),))
_THREE, _AT_ONCE = playing(_ONE_BY_ONE), playing(replace(_ONE_BY_ONE, whole=True))
#: Two sequences that grow by turns over more than a block.
_BEYOND = playing(Play(((0, 1), (1, 1)) * 6))
#: Axis orders of what goes to a sequence that is an object: one token first.
_OF_ONE = ("HD", "NHD", "HND", "BHND", "BNHD")
#: What reads a first block and not a second: one of several mistakes, or another kind of cache.
_ONE_BLOCK = "only what stands in a first block comes back"


def parts_of(bound: Mapping[str, Binding]) -> Option | None:
    """The paged cache's bindings by part (``create``, ``append``, …); ``None`` when there is none."""
    own = {part: replace(bound[f"paged_{part}"], role=part) for part in PARTS if f"paged_{part}" in bound}
    if not ({"append", "append_many"} & set(own) and {"read", "attend"} & set(own)):
        return None
    return {**({"create": bound["paged"]} if "paged" in bound else {}), **own}


def find(search: Search) -> None:
    """Bind ``paged`` and its parts."""
    bound = search.bound
    written = {part: bound.pop(f"paged_{part}") for part in PARTS if f"paged_{part}" in bound}
    create = bound.pop("paged", None)
    options = [create] if create else creates(search)
    meant: Option | None = None
    if create and (chooses(written) or sequence_objects.are_objects(written)):
        # written by hand, or kept from a search: of these kinds nothing is left out
        options, meant = [], {"create": create, **written}
    # what is called after codes is one where there is no other
    coded = [] if create else _told_of_blocks(search, CODED, options)
    for option in (*options[:5], *coded[:2]):
        if meant is not None and option in coded:
            break
        if option.target in search.fatal:
            search.note("paged", f"{option.target} {search.fatal[option.target].message}")
            continue
        found: tuple[Option, bool] | None = None
        with search.guess() as guess:
            found = _settled(search, option, written, _plain(bound, option))
        if guess.said:
            search.note("paged", f"{option.target} {guess.said}")
        if found and (found[1] or meant is None):
            meant = found[0]
        if found and found[1]:
            break
    if not (meant or written or create):
        meant = chosen_blocks.find(search) or _of_objects(search)
    if meant:
        bound["paged"] = meant.pop("create")
        bound.update({f"paged_{part}": binding for part, binding in meant.items()})


def _of_objects(search: Search) -> Option | None:
    """A pool whose sequences are objects of their own."""
    for create, calls in sequence_objects.opened(search):
        adds: list[Option] = [{"add": add} for add in calls("add")]
        found = _tried_all(search, create, calls, adds, ())
        if found:
            return _completed(search, found[0], calls)
    return None


def _plain(bound: Option, create: Binding) -> set[str]:
    """What reads and feeds the plain cache, where that is made by something else."""
    if "create" not in bound or bound["create"].target == create.target:
        return set()
    return {bound[name].target for name in ("append", "read", "attend") if name in bound}


def creates(search: Search) -> list[Binding]:
    """What is called a paged cache; then what is told of blocks, whatever it is called."""
    named = matched(search, ROLES[0], classes=True)
    return [*named, *_told_of_blocks(search, replace(ROLES[0], patterns=(r"",)), named)]


def _told_of_blocks(search: Search, role: Role, known: Sequence[Binding]) -> list[Binding]:
    targets = {binding.target for binding in known}
    told = matched(search, role, classes=True)
    return [binding for binding in told if binding.target not in targets and in_blocks(binding)]


def in_blocks(create: Binding) -> bool:
    """Whether what is made is told how many blocks there are, and how large they are."""
    return create.takes("blocks") and create.takes("block_size")


def _settled(
    search: Search, create: Binding, written: Option, plain: Collection[str]
) -> tuple[Option, bool] | None:
    """What gives back what went in, else what at least runs; and which of the two it is.

    Functions of the ``plain`` cache may run on a pool by accident: they count where they are right alone.
    """
    create = replace(create, returns={}) if create.origin in ("found", ADAPTER) else create
    owner = Owner.of(search.worker, create, PoolSizes().inputs())

    def calls(part: str, most: int = 3) -> list[Binding]:
        if part in written:
            return [written[part]]
        return matched(search, PARTS[part], owner=owner, stateful=True)[:most]

    found = _tried_all(search, create, calls, _told(calls), plain)
    if found and (found[1].error <= NEAR or found[1].mistake == _ONE_BLOCK):
        return _completed(search, found[0], calls), True
    if whole := _batched(search, create, *_fed_and_read(calls)):
        return whole, True
    return (_completed(search, found[0], calls), False) if found else None


def _fed_and_read(calls: Calls) -> tuple[list[Binding], list[tuple[str, Binding]]]:
    """What may feed a pool, and what may read it."""
    reads = [("read", b) for b in calls("read")] + [("attend", b) for b in calls("attend")]
    return calls("append") or calls("append_many"), reads


def _tried_all(
    search: Search, create: Binding, calls: Calls, told: Sequence[Option], plain: Collection[str]
) -> tuple[Option, Trial] | None:
    """What feeds a pool and reads it, with what tells it of its sequences: right, or meant."""
    appends, reads = _fed_and_read(calls)

    def options(_search: Search) -> Iterator[Option]:
        together = itertools.product(appends, reads, told)
        for append, (part, read), own in sorted(together, key=lambda one: -_kin(one[0], one[1][1])):
            yield {"create": create, **own, "append": append, part: read}

    def meant(_search: Search, option: Option, result: Trial) -> bool:
        both = [option[name] for name in ("append", "read", "attend") if name in option]
        accident = {binding.target for binding in both} & {*plain}
        return not accident and (result.mistake == _ONE_BLOCK or _same_order(*both))

    return search.settle(
        Family(
            "paged", options, _tried, _readings, meant, lambda _, result: result.mistake != _ONE_BLOCK, NEAR
        )
    )


def _readings(search: Search, option: Option) -> Iterator[Option]:
    """What feeds it and what reads it, under every axis order."""
    part = "read" if "read" in option else "attend"
    every = all_layers_go_in(option)
    appends = [order for append in _with_ids(option["append"]) for order in _orders(append, every)]
    for one, other in itertools.product(appends, _orders(option[part], every)):
        for come in _comings(option, one.layout):
            yield {**option, **come, "append": one, part: other}


def _with_ids(append: Binding) -> Iterator[Binding]:
    """The call told of its tokens' ids, in a list; then without them, where it has a default of its own."""
    yield append
    left = tuple(argument for argument in append.args if argument.source != "prompt" or not argument.keyword)
    if left != append.args:
        yield replace(append, args=left)


def _comings(option: Option, layout: str) -> Iterator[Option]:
    """What a sequence comes with, in the orders in which its first tokens may be."""
    add = option.get("add")
    if add is None or add.layout or not add.takes("k"):
        yield {}
        return
    for order in many_layouts(option["append"], layout):
        if "N" in order:
            yield {"add": replace(add, layout=order)}


def _kin(one: Binding, other: Binding) -> int:
    """How many words the names of two functions share: ``pool_read`` goes with ``pool_append``."""
    if one.on or other.on:
        return 0
    return len(set(one.name.lower().split("_")) & set(other.name.lower().split("_")))


def _told(calls: Calls) -> list[Option]:
    """What tells the cache that a sequence comes, that tokens come, that they are there; or nothing."""
    named = calls("add")
    # what is called tokens may be how many there are, or which
    listed = [add.handed(count="prompt") for add in named if add.takes("count") > add.takes("prompt")]
    adds: list[Option] = [*({"add": add} for add in (*named, *listed)), {}]
    around: list[Option] = [{}, *({"reserve": reserve} for reserve in calls("reserve")[:1])]
    # what says that a step is over is called: a cache that needs it may give its tokens back without
    ticks: list[Option] = [*({"advance": tick} for tick in calls("advance")[:1]), {}]
    told = [{**add, **reserve, **tick} for tick in ticks for reserve in around for add in adds]
    return [one for one in told if len({binding.target for binding in one.values()}) == len(one)]


def _batched(
    search: Search, create: Binding, appends: list[Binding], reads: list[tuple[str, Binding]]
) -> Option | None:
    """Calls that feed the whole batch at once, with what reads it."""
    base = {"create": create}
    pairs = (
        {"append": replace(one, role="append"), part: replace(other, role=part)}
        for append, (part, read) in itertools.product(appends, reads)
        if not append.takes("sequence")
        for one in batched.orders(append)
        for other in (_orders(read) if read.takes("sequence") else batched.orders(read))
    )
    if not (option := base | search.first(base, pairs, _of_all(1, 1, 1), NEAR)).keys() - base.keys():
        return None
    many = {"append_many": replace(option["append"], role="append_many")}
    # several tokens at once, where its call takes them
    return option | search.first(option, [many] if "N" in option["append"].layout else [], _of_all(3), NEAR)


def _of_all(*pieces: int) -> Callable[[Search, Option], Trial]:
    """A trial in which every sequence gets so many tokens with each call."""

    @trial
    def fed(search: Search, option: Option) -> float:
        return batched.fed_off(search.worker, option, lambda: BUDGET, np.random.default_rng(17), pieces)

    return fed


def _same_order(one: Binding, other: Binding) -> bool:
    return re.sub("[LBN]", "", one.layout) == re.sub("[LBN]", "", other.layout)


def _orders(binding: Binding, every: bool = False) -> Iterator[Binding]:
    if binding.layout:
        yield binding
        return
    if binding.on == "sequence":
        # a method of one need not be told which
        yield from (replace(binding, layout=layout) for layout in _OF_ONE)
        return
    if not (binding.takes("sequence") or binding.takes("rows")):
        return
    orders = layouts(binding, every)
    if binding.takes("rows"):
        # an axis of one token in front of a single row's heads is dropped without a word, but not of several
        orders = tuple(sorted(orders, key=lambda layout: "N" in layout))
    for layout in orders:
        yield replace(binding, layout=layout)


def _tried(search: Search, option: Option) -> Trial:
    """Three tokens of one sequence, one by one, in a block of four; then more, where they come back."""
    result = _THREE(search, option)
    # What reads another kind of cache may find one block, and not the next.
    right = _near(result) and not _near(_BEYOND(search, option))
    return Trial(1.0, mistake=_ONE_BLOCK) if right else result


def _near(result: Trial) -> bool:
    return result.ran and result.error <= NEAR


def _completed(search: Search, option: Option, calls: Calls) -> Option:
    """The same with what feeds several tokens, attends beside what reads, frees, forks and takes back."""
    one, layout = option["append"], option["append"].layout
    orders = many_layouts(one, layout) if "L" in layout and "N" not in layout else [layout]
    several = [*itertools.product([one], orders)]
    several += [(many, order) for many in calls("append_many") for order in many_layouts(one, layout)]
    wide = ({"append_many": replace(many, layout=order)} for many, order in several if "N" in order)
    option = option | search.first(option, wide, _AT_ONCE, NEAR)
    if "read" in option:
        every = all_layers_go_in(option)
        apart = {name: binding for name, binding in option.items() if name != "read"}
        attends = ({"attend": order} for attend in calls("attend") for order in _orders(attend, every))
        option = option | search.first(apart, attends, _THREE, NEAR)
    frees = sorted(calls("free"), key=lambda free: -_kin(one, free))
    # What is named so and runs is meant, right or wrong.
    option = option | freeing.found(search, option, frees, _comes_again)
    return sharing.of_pool(search, option, calls)


@trial
def _comes_again(search: Search, option: Option) -> float:
    """Whether a sequence can go, and its number come again, empty; infinite where it can only go."""
    pool, rng = played(search, option, Play(((0, 2), (0, 0))))
    with search.guess():
        pool.add(0, 2)
        pool.grow(rng, 0, 2)
        return off(pool, rng)
    return float("inf")
