"""Finding what forks a sequence, puts rows in another order, or takes tokens back."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from judge_tui.checks.binding.meant import is_its_own
from judge_tui.checks.binding.solver import Option, Search, Trial, trial
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.tasks.kv.faces import sharing
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.fed import Fed
from judge_tui.checks.tasks.kv.finding.combinations import MOST, owner_of
from judge_tui.checks.tasks.kv.finding.pool_trials import NEAR, Play, off, played
from judge_tui.checks.tasks.kv.finding.signatures import matched
from judge_tui.checks.tasks.kv.finding.trials import BUDGET
from judge_tui.checks.tasks.kv.words.masks import texts_of
from judge_tui.checks.tasks.kv.words.sharing_roles import ROLES
from judge_tui.checks.tasks.kv.words.sizes import Sizes, mode

__all__ = ["find", "of_codes", "of_pool"]

Tried = Callable[[Search, Option], Trial]
#: How far off codes leave an answer, and a width that they fill.
_FAR, _CODED = 0.3, 64
#: What a sequence of a pool is told that it will have.
_ROOM = 12
#: Names of what is meant beyond doubt, right or wrong.
_MEANT = {
    "fork": re.compile(r"(?i)fork|branch|share"),
    "reorder": re.compile(r"(?i)reorder"),
    "roll_back": re.compile(r"(?i)roll_?back|rewind|truncate|crop"),
}
#: What a call says of itself that takes the newest tokens back.
_NEWEST = re.compile(
    r"(?i)\b(last|newest|latest|most recent|rejected|refused|take back|undo|roll)\b|draft|specul"
)
_BY_PART = {role.name: role for role in ROLES}
#: What is told how many tokens go.
_GOES = re.compile(r"(?i)roll_?back|rewind|undo|revert|retract|pop|drop|remove|discard|delete|append")


def find(search: Search) -> None:
    """Bind ``fork``, ``reorder`` and ``roll_back`` of the plain cache, where it has them."""
    if mode(search.bound):
        _bind(search, {"fork": _forked, "reorder": _reordered(8, NEAR), "roll_back": _rolled_back(8, NEAR)})


def of_codes(search: Search) -> None:
    """The same of a cache that keeps codes, whose roles are bound under the plain ones' names."""
    _bind(search, {"reorder": _reordered(_CODED, _FAR), "roll_back": _rolled_back(_CODED, _FAR)})


def _bind(search: Search, trials: Mapping[str, Tried]) -> None:
    bound = search.bound
    owner = owner_of(search, bound)
    for role in ROLES if owner else ():
        if role.name not in bound and role.name in trials:
            options = matched(search, role, owner=owner, stateful=True)[:MOST]
            bound.update(_settled(search, bound, options, trials[role.name]))


def of_pool(search: Search, option: Option, calls: Callable[[str], list[Binding]]) -> Option:
    """The parts of a paged cache with what forks its sequences and takes their tokens back.

    Args:
        search: Whose cache it is.
        option: Part → binding.
        calls: Gives candidates for a part.
    """
    whole = dict(option)
    for part, tried in (("fork", _pool_forked), ("roll_back", _pool_rolled_back)):
        options = [replace(binding, role=part) for binding in calls(part)]
        named = [one for one in options if one.takes("sequence") or one.on == "sequence"]
        whole.update(_settled(search, whole, named, tried))
    return whole


def _settled(search: Search, bound: Option, options: Sequence[Binding], tried: Tried) -> Option:
    """The first that is right; else the first that is meant beyond doubt, and runs, or never does."""
    taken = {binding.target for binding in bound.values()}
    ran, failed = list[Binding](), dict[str, list[tuple[Binding, Trial]]]()
    for option in (reading for one in options if one.target not in taken for reading in _readings(one)):
        result = tried(search, {**bound, option.role: option})
        if result.ran and result.error <= NEAR:
            return {option.role: option}
        name = option.name.rpartition(".")[2]
        if not _MEANT[option.role].search(name):
            trims = option.role == "roll_back" and "trim" in name.lower()
            if not (trims and _says_newest(search, option)):
                continue
        if result.ran and not np.isinf(result.error):
            ran.append(option)
        failed.setdefault(option.target, []).append((option, result))
    broken = [each[0][0] for each in failed.values() if all(_breaks(search, *one) for one in each)]
    return {option.role: option for option in (ran or broken)[:1]}


def _says_newest(search: Search, option: Binding) -> bool:
    """Whether the text of a call that trims says that the newest tokens go; others trim the oldest."""
    return any(map(_NEWEST.search, texts_of(search.worker.submission, option)))


def _breaks(search: Search, option: Binding, result: Trial) -> bool:
    """Whether a call ends in an error of its own, and not because it was handed what it does not take.

    Or whether another number of tokens than stays is read back after it.
    """
    fault, owner = result.fault, option.name.rpartition(".")[0]
    if isinstance(fault, BadResult) and option.role.endswith("roll_back"):
        return True
    if not isinstance(fault, Raised) or fault.file not in search.worker.submission.files:
        return False
    # Who lacks what its own object should have is at fault whatever is handed over.
    lacks = fault.kind == "AttributeError" and fault.detail.startswith(f"'{owner}' object has no attribute")
    return lacks or is_its_own(search.worker.submission, fault, _BY_PART[option.role.removeprefix("paged_")])


def _readings(option: Binding) -> Iterator[Binding]:
    """What a number may mean: tokens that stay or go, of all rows or of each; when a child is told of."""
    if option.takes("child"):
        yield from (option, option.handed(child=sharing.ADDED))
    elif not option.role.endswith("roll_back"):
        yield option
    elif option.takes("length") != option.takes("count"):
        told = "length" if option.takes("length") else "count"
        sources = [("length", "totals"), ("count", "counts")]
        if told == "count" or _GOES.search(option.name.rpartition(".")[2]):
            sources.reverse()
        for one, each in sources:
            yield option.handed(**{told: one})
            if not option.takes("sequence"):
                yield option.handed(**{told: each})
    elif option.takes("length") or option.takes("totals"):
        # what is told no number begins anew, and takes nothing back
        yield option


def _fed(search: Search, bound: Option, tokens: int, width: int = 8) -> tuple[Fed, np.random.Generator]:
    rng, sizes = np.random.default_rng(18), Sizes(max_len=32, layers=1, head_dim=width)
    cached = Cached(search.worker, bound, sizes, lambda: BUDGET)
    if cached.alone:
        cached = Cached(search.worker, bound, replace(sizes, batch=1), lambda: BUDGET)
    return Fed.of(cached, rng, tokens), rng


@trial
def _forked(search: Search, bound: Option) -> float:
    """Two tokens, then a row that has the past of another, or a second cache."""
    fed, _rng = _fed(search, bound, 2)
    if bound["fork"].takes("sequence"):
        if not bound["fork"].takes("child"):
            return float("inf")
        fed.fork_row(0, 1)
        return fed.held()
    other = fed.clone()
    return float(np.max([fed.held(), other.held()]))


def _reordered(width: int, near: float) -> Tried:
    """Two rows change places; what is off by less than ``near`` is right."""

    @trial
    def tried(search: Search, bound: Option) -> float:
        fed, rng = _fed(search, bound, 2, width)
        fed.reorder(np.array([1, 0]) if fed.cached.sizes.batch > 1 else np.array([0]))
        return _within(near, fed.held(), fed.feed(rng, 1))

    return tried


def _rolled_back(width: int, near: float) -> Tried:
    """Two of six tokens go, and two others come; infinite where the newest stay and the oldest go."""

    @trial
    def tried(search: Search, bound: Option) -> float:
        fed, rng = _fed(search, bound, 6, width)
        newest = fed.newest(4)
        fed.roll_back(2)
        held = fed.held()
        if held > near and newest.held() <= near:
            return float("inf")
        return _within(near, held, fed.feed(rng, 2))

    return tried


def _within(near: float, *errors: float) -> float:
    worst = float(np.max(errors))
    return 0.0 if worst <= near else worst


@trial
def _pool_forked(search: Search, option: Option) -> float:
    """A sequence of three tokens, in blocks of four, and a second one with the same past."""
    pool, rng = played(search, option, Play(((0, 3),)), _ROOM)
    sharing.fork(pool, 0, 1)
    return off(pool, rng)


@trial
def _pool_rolled_back(search: Search, option: Option) -> float:
    """Two of seven tokens go, and three others come; infinite where the newest stay and the oldest go."""
    pool, rng = played(search, option, Play(((0, 7),)), _ROOM)
    k, v = pool.fed[0]
    sharing.roll_back_sequence(pool, 0, 2)
    kept, held = pool.fed[0], pool.off(0)
    pool.fed[0] = k[:, 2:], v[:, 2:]
    if held > NEAR and pool.off(0) <= NEAR:
        return float("inf")
    pool.fed[0] = kept
    pool.grow(rng, 0, 3)
    return float(np.max([held, pool.off(0)]))
