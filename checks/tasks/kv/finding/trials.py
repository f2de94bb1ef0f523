"""Short runs that tell one interface from another: the first that is right wins, else the nearest.

Names and signatures leave open in which order axes go, whether several tokens may go in at once, and
whether lengths count what is new or what is stored. Nobody is failed for a misread interface: each
reading is tried on a small random sequence, and one under which the answers are right is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from judge_tui.checks.binding.solver import RIGHT, Option, Search, Trial, trial
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.handover import Handle
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.kv.faces.axis_orders import LAYERS
from judge_tui.checks.tasks.kv.faces.cached import Cached
from judge_tui.checks.tasks.kv.faces.fed import Fed
from judge_tui.checks.tasks.kv.faces.slots import Kept, arrays_of, changed
from judge_tui.checks.tasks.kv.words.draws import drawn
from judge_tui.checks.tasks.kv.words.reference import attention, causal_rows, diagnosis, nearly
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import relative_error

__all__ = [
    "BUDGET",
    "EQUALS",
    "advances_itself",
    "coded_steps",
    "fills",
    "gives_floats",
    "held",
    "held_many",
    "in_step",
    "noted",
    "prompts",
    "ragged",
    "settled_by",
    "steps",
    "stored_many",
]

Array = npt.NDArray[np.float64]

#: What stands before a usual mistake that every answer of a trial equals.
EQUALS = "equals attention in which"
#: How far off codes of four bits leave the answers of attention.
_CODED = 0.2
#: Seconds of one trial.
BUDGET = 8.0
_SIZES = Sizes(batch=2, heads=3, max_len=32, head_dim=8, layers=2)


def _fresh(search: Search, bound: Option) -> Cached:
    sizes = Sizes(_SIZES.batch, _SIZES.heads, _SIZES.max_len, _SIZES.head_dim)
    together = LAYERS if any("L" in binding.layout for binding in bound.values()) else 1
    return Cached(search.worker, bound, sizes, lambda: BUDGET, together=together)


def _fed(search: Search, bound: Option) -> tuple[Fed, np.random.Generator]:
    """An empty cache that remembers what it is fed, and what draws that."""
    rng = np.random.default_rng(8)
    return Fed.of(_fresh(search, bound), rng, 0), rng


def _off(fed: Fed, error: float) -> float:
    """The error of the answers, or of what is stored where there is no attention."""
    return fed.kept() if fed.cached.mode == "read" else error


def _compared(cached: Cached, out: Array, q: Array, k: Array, v: Array) -> float:
    """Error of the answer, or of what is stored where there is no attention; q are the last tokens of k."""
    if cached.mode == "read":
        return Fed(cached, list(zip(k, v, strict=True))).kept()
    visible = causal_rows(q.shape[2], k.shape[2])
    return relative_error(out, attention(q, k, v, visible=visible))


@trial
def steps(search: Search, bound: Option) -> Trial:
    """Five decode steps from an empty cache, one token each; more of them than heads."""
    return _stepped(search, bound, diagnosis)


@trial
def coded_steps(search: Search, bound: Option) -> Trial:
    """The same over codes, whose answers are near and never equal: those of a mistake as well."""
    return _stepped(search, bound, partial(nearly, within=_CODED))


def _stepped(search: Search, bound: Option, diagnosed: Callable[[Array, Array, Array, Array], str]) -> Trial:
    mistakes: set[str] = set()
    cached = _fresh(search, bound)
    q, k, v = drawn(np.random.default_rng(7), cached.sizes, 5)
    errors = []
    for t in range(5):
        now, seen = slice(t, t + 1), slice(0, t + 1)
        out = cached.feed(q[:, :, now], k[:, :, now], v[:, :, now])
        errors.append(_compared(cached, out, q[:, :, now], k[:, :, seen], v[:, :, seen]))
        if cached.mode != "read" and t >= 2 and not errors[-1] <= RIGHT:
            mistakes.add(diagnosed(out, q[:, :, now], k[:, :, seen], v[:, :, seen]))
    alone = cached.mode == "fused" and bound["step"].on == "cache"
    if mistakes and alone and _keeps_nothing(cached):
        raise Skipped("keeps nothing of what it is given: it is attention, and no step of a cache")
    return Trial(float(np.max(errors)), mistake=mistakes.pop() if len(mistakes) == 1 else "")


def _keeps_nothing(cached: Cached) -> bool:
    """Whether a further step leaves every array of its objects as it is; False where they show none.

    What a step gives back is no object of its own that stays: its arrays are new ones.
    """
    before = _held_by(cached)
    q, k, v = drawn(np.random.default_rng(9), cached.sizes, 1)
    roots = list(cached.states)
    cached.feed(q, k, v)
    return bool(before) and roots == list(cached.states) and not changed(before, _held_by(cached))


def _held_by(cached: Cached) -> Kept:
    return arrays_of(cached.worker, [state for state in cached.states if isinstance(state, Handle)])


@trial
def in_step(search: Search, bound: Option) -> float:
    """Five decode steps of two layers, each of which appends and attends in its turn."""
    rng = np.random.default_rng(12)
    layers = [Fed.of(layer, rng, 0) for layer in _fresh(search, bound).in_step()]
    return float(np.max([_off(layer, layer.feed(rng, 1)) for _ in range(5) for layer in layers]))


@trial
def held_many(search: Search, bound: Option) -> float:
    """Four tokens at once (heads are three), then one: whether all are held; the error is of the last row."""
    cached = _fresh(search, bound)
    q, k, v = drawn(np.random.default_rng(8), cached.sizes, 5)
    errors = []
    for now in (slice(0, 4), slice(4, 5)):
        out = cached.feed(q[:, :, now], k[:, :, now], v[:, :, now])
        last, seen = slice(now.stop - 1, now.stop), slice(0, now.stop)
        errors.append(_compared(cached, out[:, :, -1:], q[:, :, last], k[:, :, seen], v[:, :, seen]))
    return float(np.max(errors))


@trial
def stored_many(search: Search, bound: Option) -> float:
    """The same of the last token alone, whatever attention makes of the queries of the first four."""
    fed, rng = _fed(search, bound)
    fed.at_once(rng, 4)
    return _off(fed, fed.at_once(rng, 1))


@trial
def prompts(search: Search, bound: Option) -> float:
    """Prompts of four tokens, sequence by sequence, then a step of all; alike in length, as any may be."""
    cached = _fresh(search, bound)
    if not cached.prompts_apart:
        raise Skipped("takes no prompts of single sequences")
    q, k, v = drawn(np.random.default_rng(8), cached.sizes, 5)
    cached.feed_prompts(k[:, :, :4], v[:, :, :4], np.full(cached.sizes.batch, 4, np.int64))
    out = cached.feed(q[:, :, 4:], k[:, :, 4:], v[:, :, 4:])
    return relative_error(out, attention(q[:, :, 4:], k, v))


@trial
def fills(search: Search, bound: Option) -> float:
    """All that a cache is told to hold goes in, or it does not run."""
    cached = Cached(search.worker, bound, Sizes(2, 3, 8, 8), lambda: BUDGET)
    cached.feed(*drawn(np.random.default_rng(11), cached.sizes, 8), whole=False)
    return 0.0


@trial
def held(search: Search, bound: Option) -> float:
    """Three tokens fed one by one: whether they are read back."""
    fed, rng = _fed(search, bound)
    fed.feed(rng, 3)
    return fed.kept()


def advances_itself(search: Search, bound: Option) -> bool:
    """Whether a cache that has a call to advance it holds what it is fed, and needs no such call."""
    parts: Option = {n: bound[n] for n in ("create", "add", "reserve", "append", "read") if n in bound}
    return "append" in parts and not {"advance", "advance_after"} & set(bound) and held(search, parts).right


def gives_floats(search: Search, bound: Option) -> bool:
    """Whether what is read back is a pair of arrays of floating point, and nothing beside."""
    with search.guess():
        cached = _fresh(search, bound)
        cached.feed(*drawn(np.random.default_rng(10), cached.sizes, 2), whole=False)
        cached.stored(0)
        parts = cached.last.result.tree.get("parts", ()) if cached.last else ()
        return len(parts) == 2 and all(str(below.get("dtype", "")).startswith("float") for *_, below in parts)
    return False


@trial
def ragged(search: Search, bound: Option) -> float:
    """A batch of lengths 2 and 3, then one token each; each row against its own sequence."""
    fed, rng = _fed(search, bound)
    if not fed.cached.ragged_by():
        raise Skipped("takes no lengths")
    fed.at_once(rng, 2, 3)
    return _off(fed, fed.feed(rng, 1))


def settled_by(binding: Binding, result: Trial) -> Binding:
    """The binding, with what the trial that settled it showed."""
    told = "came out right" if result.right else "ran, nearest of all readings"
    return replace(binding, why=f"{binding.why}; five steps through it {told} (error {result.error:.1g})")


def noted(search: Search, read: Mapping[str, Binding], result: Trial) -> None:
    """Add what a combination is and how its trial went to what was tried."""
    names = ", ".join(dict.fromkeys(f"{b.target}" for b in read.values()))
    looks = f": {EQUALS} {result.mistake}" if result.mistake else ""
    search.note("step", f"{names}: {result.said or f'runs, error {result.error:.2g}{looks}'}")
