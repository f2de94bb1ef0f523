"""Finding a submission's cache: which callables play together, and how they are fed.

Roles of a cache cannot be told one by one, because the axis order of one call shows only in the answer
of another. So names and signatures give candidates per role (:mod:`.combinations`), every axis order is
a reading (:mod:`.readings`), and short runs (:mod:`.trial`) settle which is meant.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from judge_tui.checks.binding.solver import Option, Search, Trial
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces.cached import TICKS
from judge_tui.checks.tasks.kv.finding import chunked as chunks
from judge_tui.checks.tasks.kv.finding import (
    decoders,
    freeing,
    grouped,
    paged,
    quantized,
    sharing,
    trials,
    wrong_attention,
)
from judge_tui.checks.tasks.kv.finding.advancing import miscounts, moved_elsewhere
from judge_tui.checks.tasks.kv.finding.combinations import MOST, appended, combinations, owner_of
from judge_tui.checks.tasks.kv.finding.completing import settle_lengths, settle_many, settle_read, settle_room
from judge_tui.checks.tasks.kv.finding.keeping import (
    as_quantized,
    becomes_codes,
    keeps_codes,
    keeps_no_tokens,
)
from judge_tui.checks.tasks.kv.finding.only_paged import from_pages
from judge_tui.checks.tasks.kv.finding.readings import (
    beyond_doubt,
    is_the_mistake,
    layouts,
    may_be_misplaced,
    plainly_meant,
    readings,
)
from judge_tui.checks.tasks.kv.finding.signatures import matched
from judge_tui.checks.tasks.kv.finding.trials import advances_itself, noted, settled_by
from judge_tui.checks.tasks.kv.words.reference import ORDERLY
from judge_tui.checks.tasks.kv.words.sequence_roles import FREE
from judge_tui.checks.tasks.kv.words.sizes import mode

__all__ = ["find"]

#: Roles that arrays go into, or come out of, in an order of axes.
_TAKING = frozenset({"append", "append_many", "attend", "attention", "read", "step", "step_many"})
#: Wrong combinations that are tried with layers in step.
_LAYERED = 8


def find(search: Search) -> None:
    """Bind the roles that are not written by hand.

    Raises:
        Fault: A trial ended the process.
    """
    bound = search.bound
    for name, binding in list(bound.items()):
        if binding.origin == ADAPTER:
            # An adapter may give back what the submission gives; where things are is seen at the call.
            bound[name] = replace(binding, returns={})
    written, tried = dict(bound), search.tried("step")
    seen = _tried(search, written)
    if not written and (why := _not_moved(search, seen) or _no_cache(search, seen)):
        tried.insert(0, why)
        seen = _Seen()
    if seen.best is not None:
        _completed(search, written, seen.best)
        codes = becomes_codes if seen.best[1].right else keeps_codes
        if not written and codes(search, bound):
            _quantized(bound, seen)
            # How it failed as a plain cache says nothing any more.
            tried.clear()
    for role in ("create", "append", "read", "attend"):
        search.tried(role).extend(tried)
    quantized.find(search)
    paged.find(search)
    coded = not mode(bound) and quantized.of_pages(search)
    decoders.find(search)
    if not (mode(bound) or coded):
        over_pages = from_pages(search)
        seen.ran += over_pages.ran
        seen.meant = seen.meant or over_pages.meant
        settle_many(search, bound, written)
    if "decode" not in bound:
        _attends_wrongly(search, written, seen)
    if {"add", "create"} <= set(bound) and (owner := owner_of(search, {"create": bound["create"]})):
        freeing.settle(search, matched(search, FREE, owner=owner, stateful=True)[:MOST])
    sharing.find(search)
    chunks.find(search)
    grouped.find(search)
    for name in {*written} & _TAKING & {*bound}:
        # what no trial found right takes its arrays as the contract has them
        bound[name] = replace(bound[name], layout=bound[name].layout or layouts(bound[name])[0])


@dataclass(slots=True)
class _Seen:
    """What came of the trials of all readings.

    Attributes:
        best: The first that is right; else the nearest of those that are plainly meant (:func:`_far`).
        meant: The first whose answers are those of a usual mistake.
        ran: With attention, ran to the end, and answered wrongly.
        advanced: Told that steps are over, ran to the end, and answered wrongly; in one axis order.
    """

    best: tuple[Option, Trial] | None = None
    meant: Option | None = None
    ran: list[Option] = field(default_factory=list)
    advanced: list[tuple[Option, Trial]] = field(default_factory=list)

    def add(self, read: Option, result: Trial, ticks: bool) -> None:
        """Take a reading that is not right into account; ``ticks``: when it is advanced is a guess."""
        if result.mistake and is_the_mistake(read, result.mistake, ticks):
            self.meant = self.meant or read
        if result.ran and mode(read) != "read" and not ticks:
            self.ran.append(read)
        if result.ran and set(TICKS) & set(read) and plainly_meant(read, ticks=False):
            self.advanced.append((read, result))
        if (
            result.ran
            and (self.best is None or _far(read, result) < _far(*self.best))
            and plainly_meant(read, ticks)
        ):
            self.best = read, result


def _far(read: Option, result: Trial) -> tuple[bool, bool, float]:
    """How far a wrong reading is from a right one; a usual mistake in its answers proves its axis orders."""
    return _uneven(read), result.mistake not in ORDERLY, result.error


def _uneven(read: Option) -> bool:
    """Whether keys go in with other axes than queries: a token's heads may be stored as tokens then."""
    feeds = [set(read[name].layout) for name in ("append", "step", "attend", "attention") if name in read]
    return any(axes != feeds[0] for axes in feeds)


def _tried(search: Search, written: Option) -> _Seen:
    """Try readings of all combinations, until one is right."""
    seen = _Seen()
    for combination, ticks in combinations(search, written):
        for read in readings(combination, written):
            result = trials.steps(search, read)
            if result.right:
                seen.best = read, result
                return seen
            if not may_be_misplaced(search, read, result.mistake):
                seen.add(read, result, ticks and result.ran and not advances_itself(search, read))
            noted(search, read, result)
    if not (written or seen.ran or seen.best):
        seen.best = _giving_back(search)
        if seen.best is not None:
            return seen
    if not written and (layered := _by_last_layer(search, seen)) is not None:
        seen.best = layered
        return seen
    if seen.best is None and seen.advanced:
        # When it is advanced is no guess where no time is right: what it counts is off.
        nearest = min(seen.advanced, key=lambda one: one[1].error)
        seen.best = nearest if miscounts(search, nearest[0]) else None
    return seen


def _giving_back(search: Search) -> tuple[Option, Trial] | None:
    """A cache that nothing found attends over, and that gives back all it holds as it takes more in."""
    for combination in appended(search):
        for read in readings(combination, {}):
            result = trials.steps(search, read)
            if result.right:
                return read, result
    return None


def _by_last_layer(search: Search, seen: _Seen) -> tuple[Option, Trial] | None:
    """A cache whose length moves with its last layer: right where layers go in step, and alone."""
    meant = [option for option in seen.ran if plainly_meant(option, ticks=False)]
    for option in meant[:_LAYERED]:
        append = option.get("append") or option.get("step")
        if append is None or not (append.takes("layer") and "create" in option):
            continue
        if not (option["create"].takes("layers") and trials.in_step(search, option).right):
            continue
        one = {**option, "create": option["create"].handed(layers="one_layer")}
        if (result := trials.steps(search, one)).right:
            return one, result
    return None


def _not_moved(search: Search, seen: _Seen) -> str:
    """Why wrong answers may be those of a cache whose length nobody moved; empty where they are not."""
    if seen.best is not None and seen.best[1].right:
        return ""
    wrong = [seen.best[0] if seen.best else None, seen.meant, *seen.ran[:1]]
    asked = next((option for option in wrong if option), None)
    return moved_elsewhere(search, asked) if asked else ""


def _no_cache(search: Search, seen: _Seen) -> str:
    """Why wrong answers are those of no cache at all; empty where they may be one's."""
    if seen.best is None or seen.best[1].right or seen.best[1].mistake:
        return ""
    if not keeps_no_tokens(search, seen.best[0]):
        return ""
    return f"{seen.best[0]['step'].target}: what it hands on does not grow with the tokens: it is no cache"


def _completed(search: Search, written: Option, best: tuple[Option, Trial]) -> None:
    """Bind what was found, and what there is beside it."""
    bound = search.bound
    bound.update({name: settled_by(binding, best[1]) for name, binding in best[0].items()})
    if not written:
        settle_room(search, bound)
    settle_lengths(search, bound, written)
    settle_many(search, bound, written)
    settle_lengths(search, bound, written)
    settle_read(search, bound)


def _quantized(bound: Option, seen: _Seen) -> None:
    """Take the cache that was found for a quantized one: what it gives back is near, and never the same."""
    own = as_quantized(bound)
    for name in seen.best[0] if seen.best else ():
        bound.pop(name, None)
    for name in ("append_many", "read", "attend"):
        bound.pop(name, None)
    bound.update({name: binding for name, binding in own.items() if name not in bound})
    seen.meant, seen.ran = None, []


def _attends_wrongly(search: Search, written: Option, seen: _Seen) -> None:
    """Bind attention that makes a usual mistake, or that nothing else can be: it is meant all the same."""
    bound = search.bound
    own = seen.meant if mode(bound) in ("", "read") else None
    if own is None and mode(bound) == "read":
        own = wrong_attention.confirmed(search, bound, beyond_doubt(seen.ran))
    if own is not None:
        # What is settled about the storage stays, where it is the same storage.
        bound.update({n: b for n, b in own.items() if n not in bound or b.target != bound[n].target})
        settle_many(search, bound, written)
