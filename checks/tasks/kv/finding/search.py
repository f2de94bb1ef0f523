"""Finding a submission's cache: which callables play together, and how they are fed.

Roles of a cache cannot be told one by one, because the axis order of one call shows only in the answer
of another. So names and signatures give candidates per role (:mod:`.combinations`), every axis order is
a reading (:mod:`.readings`), and short runs (:mod:`.trial`) settle which is meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Fault
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces.cached import TICKS
from judge_tui.checks.tasks.kv.finding import chunked as chunks
from judge_tui.checks.tasks.kv.finding import (
    decoders,
    freeing,
    grouped,
    optional_roles,
    sharing,
    trial,
    wrong_attention,
)
from judge_tui.checks.tasks.kv.finding.advancing import miscounts, moved_elsewhere
from judge_tui.checks.tasks.kv.finding.combinations import MOST, appended, combinations, owner_of
from judge_tui.checks.tasks.kv.finding.completing import settle_lengths, settle_many, settle_read
from judge_tui.checks.tasks.kv.finding.keeping import as_quantized, keeps_codes
from judge_tui.checks.tasks.kv.finding.only_paged import from_pages
from judge_tui.checks.tasks.kv.finding.readings import (
    beyond_doubt,
    is_the_mistake,
    may_be_misplaced,
    plainly_meant,
    readings,
    renamed,
)
from judge_tui.checks.tasks.kv.finding.signatures import matched
from judge_tui.checks.tasks.kv.finding.trial import Trial, advances_itself, noted, settled_by
from judge_tui.checks.tasks.kv.words.roles import ByRole
from judge_tui.checks.tasks.kv.words.sequence_roles import FREE
from judge_tui.checks.tasks.kv.words.sizes import mode

__all__ = ["find"]

Inventories = Mapping[str, Mapping[str, Any]]
#: Wrong combinations that are tried with layers in step.
_LAYERED = 8


def find(
    worker: Worker,
    loaded: Inventories,
    bound: ByRole,
    rejected: dict[str, list[str]],
    fatal: dict[str, Fault],
) -> None:
    """Bind the roles that are not written by hand.

    Args:
        worker: Where the submission is.
        loaded: File → inventory.
        bound: Role → binding; holds what is written, and is added to.
        rejected: Role → what was tried.
        fatal: Callables that ended the process when they were tried; added to.

    Raises:
        Fault: A trial ended the process.
    """
    for name, binding in list(bound.items()):
        if binding.origin == ADAPTER:
            # An adapter may give back what the submission gives; where things are is seen at the call.
            bound[name] = replace(binding, returns={})
    written, tried = dict(bound), rejected.setdefault("step", [])
    search = _searched(worker, loaded, written, tried, fatal)
    if not written and (why := _not_moved(worker, loaded, search)):
        tried.insert(0, why)
        search = _Search()
    if search.best is not None:
        _completed(worker, loaded, bound, written, search.best)
        if not search.best[1].right and not written and keeps_codes(worker, bound):
            _quantized(bound, search)
            # How it failed as a plain cache says nothing any more.
            tried.clear()
    for role in ("create", "append", "read", "attend"):
        rejected.setdefault(role, []).extend(tried)
    optional_roles.find(worker, loaded, bound, rejected, fatal)
    decoders.find(worker, loaded, bound, rejected, fatal)
    if not mode(bound):
        over_pages = from_pages(worker, loaded, bound, tried, fatal)
        search.ran += over_pages.ran
        search.meant = search.meant or over_pages.meant
        settle_many(worker, loaded, bound, written)
    if "decode" not in bound:
        _attends_wrongly(worker, loaded, bound, written, search)
    if {"add", "create"} <= set(bound) and (owner := owner_of(worker, loaded, {"create": bound["create"]})):
        freeing.settle(worker, bound, matched(worker, loaded, FREE, owner=owner, stateful=True)[:MOST])
    sharing.find(worker, loaded, bound)
    chunks.find(worker, loaded, bound, rejected, fatal)
    grouped.find(worker, loaded, bound, rejected, fatal)


@dataclass(slots=True)
class _Search:
    """What came of the trials of all readings.

    Attributes:
        best: The first that is right; else the nearest of those that are plainly meant.
        meant: The first whose answers are those of a usual mistake.
        ran: With attention, ran to the end, and answered wrongly.
        advanced: Told that steps are over, ran to the end, and answered wrongly; in one axis order.
    """

    best: tuple[ByRole, Trial] | None = None
    meant: ByRole | None = None
    ran: list[ByRole] = field(default_factory=list)
    advanced: list[tuple[ByRole, Trial]] = field(default_factory=list)

    def add(self, read: ByRole, result: Trial, ticks: bool) -> None:
        """Take a reading that is not right into account; ``ticks``: when it is advanced is a guess."""
        if result.mistake and is_the_mistake(read, result.mistake, ticks):
            self.meant = self.meant or read
        if result.ran and mode(read) != "read" and not ticks:
            self.ran.append(read)
        if result.ran and set(TICKS) & set(read) and plainly_meant(read, ticks=False):
            self.advanced.append((read, result))
        nearer = self.best is None or (_uneven(read), result.error) < (
            _uneven(self.best[0]),
            self.best[1].error,
        )
        if result.ran and nearer and plainly_meant(read, ticks):
            self.best = read, result


def _uneven(read: ByRole) -> bool:
    """Whether keys go in with other axes than queries: a token's heads may be stored as tokens then."""
    feeds = [set(read[name].layout) for name in ("append", "step", "attend", "attention") if name in read]
    return any(axes != feeds[0] for axes in feeds)


def _searched(
    worker: Worker, loaded: Inventories, written: ByRole, tried: list[str], fatal: dict[str, Fault]
) -> _Search:
    """Try readings of all combinations, until one is right."""
    search = _Search()
    for combination, ticks in combinations(worker, loaded, written):
        for read in readings(combination, written):
            result = trial.survived(fatal, read, partial(trial.steps, worker, read))
            if result.right:
                search.best = read, result
                return search
            if may_be_misplaced(loaded, read, result.mistake):
                noted(tried, read, result)
                continue
            search.add(read, result, ticks and result.ran and not advances_itself(worker, read))
            noted(tried, read, result)
    if not (written or search.ran or search.best):
        search.best = _giving_back(worker, loaded, fatal)
        if search.best is not None:
            return search
    if not written and (layered := _by_last_layer(worker, search, fatal)) is not None:
        search.best = layered
        return search
    if search.best is None and search.advanced:
        # When it is advanced is no guess where no time is right: what it counts is off.
        nearest = min(search.advanced, key=lambda one: one[1].error)
        search.best = nearest if miscounts(worker, nearest[0]) else None
    return search


def _giving_back(worker: Worker, loaded: Inventories, fatal: dict[str, Fault]) -> tuple[ByRole, Trial] | None:
    """A cache that nothing found attends over, and that gives back all it holds as it takes more in."""
    for combination in appended(worker, loaded):
        for read in readings(combination, {}):
            result = trial.survived(fatal, read, partial(trial.steps, worker, read))
            if result.right:
                return read, result
    return None


def _by_last_layer(worker: Worker, search: _Search, fatal: dict[str, Fault]) -> tuple[ByRole, Trial] | None:
    """A cache whose length moves with its last layer: right where layers go in step, and alone."""
    meant = [option for option in search.ran if plainly_meant(option, ticks=False)]
    for option in meant[:_LAYERED]:
        append = option.get("append") or option.get("step")
        if append is None or not (append.takes("layer") and "create" in option):
            continue
        if not option["create"].takes("layers"):
            continue
        if not trial.survived(fatal, option, partial(trial.in_step, worker, option)).right:
            continue
        one = {**option, "create": renamed(option["create"], "layers", "one_layer")}
        if (result := trial.steps(worker, one)).right:
            return one, result
    return None


def _not_moved(worker: Worker, loaded: Inventories, search: _Search) -> str:
    """Why wrong answers may be those of a cache whose length nobody moved; empty where they are not."""
    if search.best is not None and search.best[1].right:
        return ""
    wrong = [search.best[0] if search.best else None, search.meant, *search.ran[:1]]
    asked = next((option for option in wrong if option), None)
    return moved_elsewhere(worker, loaded, asked) if asked else ""


def _completed(
    worker: Worker, loaded: Inventories, bound: ByRole, written: ByRole, best: tuple[ByRole, Trial]
) -> None:
    """Bind what was found, and what there is beside it."""
    bound.update({name: settled_by(binding, best[1]) for name, binding in best[0].items()})
    settle_lengths(worker, loaded, bound, written)
    settle_many(worker, loaded, bound, written)
    settle_lengths(worker, loaded, bound, written)
    settle_read(worker, loaded, bound)


def _quantized(bound: ByRole, search: _Search) -> None:
    """Take the cache that was found for a quantized one: what it gives back is near, and never the same."""
    own = as_quantized(bound)
    for name in search.best[0] if search.best else ():
        bound.pop(name, None)
    for name in ("append_many", "read", "attend"):
        bound.pop(name, None)
    bound.update({name: binding for name, binding in own.items() if name not in bound})
    search.meant, search.ran = None, []


def _attends_wrongly(
    worker: Worker, loaded: Inventories, bound: ByRole, written: ByRole, search: _Search
) -> None:
    """Bind attention that makes a usual mistake, or that nothing else can be: it is meant all the same."""
    own = search.meant if mode(bound) in ("", "read") else None
    if own is None and mode(bound) == "read":
        own = wrong_attention.confirmed(worker, loaded, bound, beyond_doubt(search.ran))
    if own is not None:
        # What is settled about the storage stays, where it is the same storage.
        bound.update({n: b for n, b in own.items() if n not in bound or b.target != bound[n].target})
        settle_many(worker, loaded, bound, written)
