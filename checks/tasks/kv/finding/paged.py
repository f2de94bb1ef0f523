"""Finding a submission's paged cache: what makes it, feeds it, reads it and lets sequences go."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Fault
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces import batched
from judge_tui.checks.tasks.kv.faces.axis_orders import LAYERS
from judge_tui.checks.tasks.kv.faces.pool import Pool, PoolSizes
from judge_tui.checks.tasks.kv.finding import sharing
from judge_tui.checks.tasks.kv.finding.readings import all_layers_go_in, layouts, many_layouts, renamed
from judge_tui.checks.tasks.kv.finding.signatures import Owner, matched
from judge_tui.checks.tasks.kv.words.paging_roles import PARTS, ROLES
from judge_tui.checks.tasks.kv.words.roles import ByRole

__all__ = ["find", "parts_of"]

Inventories = Mapping[str, Mapping[str, Any]]
_BUDGET = 8.0
_NEAR = 1e-2


def parts_of(bound: Mapping[str, Binding]) -> ByRole | None:
    """The paged cache's bindings by part (``create``, ``append``, …); ``None`` when there is none."""
    own = {part: replace(bound[f"paged_{part}"], role=part) for part in PARTS if f"paged_{part}" in bound}
    if not ({"append", "append_many"} & set(own) and {"read", "attend"} & set(own)):
        return None
    return {**({"create": bound["paged"]} if "paged" in bound else {}), **own}


def find(
    worker: Worker,
    loaded: Inventories,
    bound: ByRole,
    rejected: dict[str, list[str]],
    fatal: dict[str, Fault],
) -> None:
    """Bind ``paged`` and its parts.

    Args:
        worker: Where the submission is.
        loaded: File → inventory.
        bound: Role → binding; added to.
        rejected: Role → what was tried.
        fatal: Callables that ended the process; added to.
    """
    tried = rejected.setdefault("paged", [])
    written = {part: bound.pop(f"paged_{part}") for part in PARTS if f"paged_{part}" in bound}
    create = bound.pop("paged", None)
    options = [create] if create else _creates(worker, loaded)
    meant: ByRole | None = None
    for option in options[:5]:
        if option.target in fatal:
            tried.append(f"{option.target} {fatal[option.target].message}")
            continue
        try:
            right, runs = _settled(worker, loaded, option, written, tried, _plain(bound, option))
        except Fault as fault:
            if worker.alive:
                tried.append(f"{option.target} {fault.placed}")
                continue
            fatal[option.target] = fault
            raise
        meant = meant or runs
        if right:
            meant = right
            break
    if meant:
        bound["paged"] = meant.pop("create")
        bound.update({f"paged_{part}": binding for part, binding in meant.items()})


def _plain(bound: ByRole, create: Binding) -> set[str]:
    """What reads and feeds the plain cache, where that is made by something else."""
    if "create" not in bound or bound["create"].target == create.target:
        return set()
    return {bound[name].target for name in ("append", "read", "attend") if name in bound}


def _creates(worker: Worker, loaded: Inventories) -> list[Binding]:
    """What is called a paged cache; then what is told of blocks, whatever it is called."""
    named = matched(worker, loaded, ROLES[0], constructors=True)
    known = {binding.target for binding in named}
    told = matched(worker, loaded, replace(ROLES[0], patterns=(r"",)), constructors=True)
    return named + [
        binding
        for binding in told
        if binding.target not in known and binding.takes("blocks") and binding.takes("block_size")
    ]


def _settled(
    worker: Worker,
    loaded: Inventories,
    create: Binding,
    written: ByRole,
    tried: list[str],
    plain: Collection[str],
) -> tuple[ByRole | None, ByRole | None]:
    """What gives back what went in, and what at least runs.

    Functions of the ``plain`` cache may run on a pool by accident: they count where they are right alone.
    """
    create = replace(create, returns={}) if create.origin in ("found", ADAPTER) else create
    made = invoke(worker, create, PoolSizes().inputs(), budget=_BUDGET)
    owner = Owner.seen(worker.describe(made.handle("cache") if made.has("cache") else made.result.handle))

    def calls(part: str, most: int = 3) -> list[Binding]:
        if part in written:
            return [written[part]]
        return matched(worker, loaded, PARTS[part], owner=owner, stateful=True)[:most]

    small: ByRole | None = None
    runs: ByRole | None = None
    appends = calls("append") or calls("append_many")
    reads = [("read", b) for b in calls("read")] + [("attend", b) for b in calls("attend")]
    together = itertools.product(appends, reads, _told(calls))
    for append, (part, read), told in sorted(together, key=lambda one: -_kin(one[0], one[1][1])):
        base = {"create": create, **told}
        said = ""
        every = all_layers_go_in({"create": create, "append": append})
        for one, other in itertools.product(_orders(append, every), _orders(read, every)):
            option = {**base, "append": one, part: other}
            error, said = _tried(worker, option, said)
            accident = {one.target, other.target} & {*plain}
            if error is not None and error <= _NEAR:
                # what reads another kind of cache may find one block, and not the next
                if _beyond(worker, option):
                    return _completed(worker, option, calls), None
                small = small or (None if accident else option)
            if error is not None and runs is None and _same_order(one, other) and not accident:
                runs = option
        names = ", ".join(b.target for b in (*base.values(), append, read))
        if len(tried) < 24:
            tried.append(f"{names}: {said or 'runs, and gives back other numbers'}")
    if small is not None:
        return _completed(worker, small, calls), None
    if (whole := _batched(worker, create, appends, reads)) is not None:
        return whole, None
    return None, _completed(worker, runs, calls) if runs else None


def _kin(one: Binding, other: Binding) -> int:
    """How many words the names of two functions share: ``pool_read`` goes with ``pool_append``."""
    if one.on or other.on:
        return 0
    return len(set(one.name.lower().split("_")) & set(other.name.lower().split("_")))


def _beyond(worker: Worker, option: ByRole) -> bool:
    """Whether two sequences that grow by turns over more than a block come back as well."""
    try:
        pool = _small(worker, option)
        k, v = np.random.default_rng(17).standard_normal((2, 2, 2, 6, 8)).astype(np.float32)
        for sequence in (0, 1):
            pool.add(sequence, 6)
        for t in range(6):
            for sequence in (0, 1):
                pool.append(sequence, *(x[sequence, :, t : t + 1] for x in (k, v)))
        return all(pool.off(sequence, k[sequence, :, -1:]) <= _NEAR for sequence in (0, 1))
    except (Fault, KeyError, ValueError, IndexError):
        if not worker.alive:
            raise
        return False


def _told(calls: Callable[[str], list[Binding]]) -> list[ByRole]:
    """What tells the cache that a sequence comes, that tokens come, that they are there; or nothing."""
    named = calls("add")
    # what is called tokens may be how many there are, or which
    listed = [renamed(add, "count", "prompt") for add in named if add.takes("count") > add.takes("prompt")]
    adds: list[ByRole] = [*({"add": add} for add in (*named, *listed)), {}]
    around: list[ByRole] = [{}, *({"reserve": reserve} for reserve in calls("reserve")[:1])]
    # what says that a step is over is called: a cache that needs it may give its tokens back without
    ticks: list[ByRole] = [*({"advance": tick} for tick in calls("advance")[:1]), {}]
    told = [{**add, **reserve, **tick} for tick in ticks for reserve in around for add in adds]
    return [one for one in told if len({binding.target for binding in one.values()}) == len(one)]


def _batched(
    worker: Worker, create: Binding, appends: list[Binding], reads: list[tuple[str, Binding]]
) -> ByRole | None:
    """Calls that feed the whole batch at once, with what reads it."""
    for append, (part, read) in itertools.product(appends, reads):
        if append.takes("sequence"):
            continue
        for one in batched.orders(append):
            for other in _orders(read) if read.takes("sequence") else batched.orders(read):
                option = {
                    "create": create, "append": replace(one, role="append"), part: replace(other, role=part),
                }  # fmt: skip
                error, _said = batched.tried(worker, option, "")
                if error is not None and error <= _NEAR:
                    return batched.whole(worker, option)
    return None


def _same_order(one: Binding, other: Binding) -> bool:
    return re.sub("[LBN]", "", one.layout) == re.sub("[LBN]", "", other.layout)


def _orders(binding: Binding, every: bool = False) -> Iterator[Binding]:
    if binding.layout:
        yield binding
        return
    if not (binding.takes("sequence") or binding.takes("rows")):
        return
    for layout in layouts(binding, every):
        yield replace(binding, layout=layout)


def _tried(worker: Worker, option: ByRole, said: str) -> tuple[float | None, str]:
    """Three tokens of one sequence, one by one, in a block of four: how far off what comes back is."""
    try:
        pool = _small(worker, option)
        rng = np.random.default_rng(14)
        q, k, v = (rng.standard_normal((2, 3, 8)).astype(np.float32) for _ in range(3))
        pool.add(0, 3)
        pool.append(0, k, v, whole=False)
        return pool.off(0, q[:, -1:]), ""
    except Fault as fault:
        if not worker.alive:
            raise
        return None, said or fault.placed
    except (KeyError, ValueError, IndexError) as error:
        return None, said or f"cannot be called so: {error}"


def _small(worker: Worker, option: ByRole) -> Pool:
    """A pool; of several layers where all go in together."""
    layers = LAYERS if any("L" in binding.layout for binding in option.values()) else 1
    return Pool(worker, option, PoolSizes(layers=layers), lambda: _BUDGET)


def _completed(worker: Worker, option: ByRole, calls: Any) -> ByRole:
    """The same with what feeds several tokens, attends beside what reads, frees, forks and takes back."""
    layout = option["append"].layout
    for many in (option["append"], *calls("append_many")):
        every = many is not option["append"] or ("L" in layout and "N" not in layout)
        for order in many_layouts(option["append"], layout) if every else [layout]:
            if "N" not in order or "append_many" in option:
                continue
            extra = {**option, "append_many": replace(many, layout=order)}
            if _runs_many(worker, extra):
                option = extra
    if "read" in option:
        every = all_layers_go_in(option)
        for attend in calls("attend"):
            for one in _orders(attend, every):
                alone = {**{n: b for n, b in option.items() if n != "read"}, "attend": one}
                error, _said = _tried(worker, alone, "")
                if error is not None and ("attend" not in option and error <= _NEAR):
                    option = {**option, "attend": one}
    frees = [
        {**option, "free": free}
        for free in sorted(calls("free"), key=lambda free: -_kin(option["append"], free))
    ]
    told = [_comes_again(worker, extra) for extra in frees]
    # What is named so and runs is meant, right or wrong.
    option = next(
        (extra for how in ("right", "runs") for extra, t in zip(frees, told, strict=True) if t == how), option
    )
    return sharing.of_pool(worker, option, calls)


def _runs_many(worker: Worker, option: ByRole) -> bool:
    try:
        pool = _small(worker, option)
        k, v = np.random.default_rng(15).standard_normal((2, 2, 3, 8)).astype(np.float32)
        pool.add(0, 3)
        pool.append(0, k, v)
        return pool.off(0, k[:, -1:]) <= _NEAR
    except (Fault, KeyError, ValueError, IndexError):
        if not worker.alive:
            raise
        return False


def _comes_again(worker: Worker, option: ByRole) -> str:
    """Whether a sequence can go, and its number come again, empty: ``right``, ``runs``, or neither."""
    how = ""
    try:
        pool = _small(worker, option)
        k, v = np.random.default_rng(16).standard_normal((2, 2, 2, 8)).astype(np.float32)
        pool.add(0, 2)
        pool.append(0, k, k, whole=False)
        pool.free(0)
        how = "runs"
        pool.add(0, 2)
        pool.append(0, v, v, whole=False)
        return "right" if pool.off(0, k[:, -1:]) <= _NEAR else how
    except (Fault, KeyError, ValueError, IndexError):
        if not worker.alive:
            raise
        return how
