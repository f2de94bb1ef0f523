"""A store of the K best finished hypotheses, kept as it should be and by known mistakes.

Many hypotheses that finish one after another show how such a store takes a better one in: which of those
that it holds goes, and what the next one has to beat.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from judge_tui.checks.tasks.beam_search.oracle import Hyp, penalised
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens

__all__ = [
    "MISTAKES",
    "RANKS",
    "STOPS",
    "WAYS",
    "Rule",
    "Searched",
    "Step",
    "Store",
    "Way",
    "right",
    "stored",
]


@dataclass(slots=True)
class Store:
    """What is kept of what has finished.

    Attributes:
        size: K.
        alpha: Length penalty's exponent.
        kept: Hypotheses, in the order in which they came in.
        least: What a new one has to beat once K are kept.
        ranked: Whether what is kept was brought into order.
    """

    size: int
    alpha: float
    kept: list[Hyp] = field(default_factory=list)
    least: float = float("inf")
    ranked: bool = False

    @property
    def scores(self) -> list[float]:
        """Of what is kept."""
        return [hyp.score(self.alpha) for hyp in self.kept]

    @property
    def full(self) -> bool:
        """Whether K are kept."""
        return len(self.kept) >= self.size

    def put(self, hyp: Hyp, out: int) -> None:
        """Take one in for another."""
        del self.kept[out]
        self.kept.append(hyp)

    def worst(self) -> int:
        """Place of the one that scores least."""
        return int(np.argmin(self.scores))

    def renew(self) -> None:
        """Take the least score for what has to be beaten."""
        self.least = min(self.scores)


#: What becomes of a hypothesis that finishes when K are kept.
Rule: TypeAlias = "Callable[[Store, Hyp], None]"


def right(store: Store, hyp: Hyp) -> None:
    """The worst goes for a better one."""
    if hyp.score(store.alpha) > store.least:
        store.put(hyp, store.worst())
        store.renew()


def _stale(store: Store, hyp: Hyp) -> None:
    if hyp.score(store.alpha) > store.least:
        store.put(hyp, store.worst())


def _newest(store: Store, hyp: Hyp) -> None:
    if hyp.score(store.alpha) > store.kept[-1].score(store.alpha):
        store.put(hyp, store.worst())


def _after_newest(store: Store, hyp: Hyp) -> None:
    if hyp.score(store.alpha) > store.least:
        store.put(hyp, store.worst())
        store.least = hyp.score(store.alpha)


def _last_slot(store: Store, hyp: Hyp) -> None:
    """Best first when K are kept, and never again."""
    if not store.ranked:
        store.kept.sort(key=lambda kept: -kept.score(store.alpha))
        store.ranked = True
    if hyp.score(store.alpha) > store.kept[-1].score(store.alpha):
        store.put(hyp, -1)


def _beats_best(store: Store, hyp: Hyp) -> None:
    if hyp.score(store.alpha) > max(store.scores):
        store.put(hyp, store.worst())
        store.renew()


def _out(place: Callable[[Store], int]) -> Rule:
    """One that beats the worst comes in, and another than the worst goes."""

    def rule(store: Store, hyp: Hyp) -> None:
        if hyp.score(store.alpha) > store.least:
            store.put(hyp, place(store))
            store.renew()

    return rule


def _first_slot(store: Store, hyp: Hyp) -> None:
    if hyp.score(store.alpha) > store.least:
        store.kept[0] = hyp
        store.renew()


def _best_out(store: Store, hyp: Hyp) -> None:
    if hyp.score(store.alpha) < max(store.scores):
        store.put(hyp, int(np.argmax(store.scores)))


def _always(place: Callable[[Store], int]) -> Rule:
    """Whatever finishes comes in."""

    def rule(store: Store, hyp: Hyp) -> None:
        store.put(hyp, place(store))
        store.renew()

    return rule


def _by_sum(store: Store, hyp: Hyp) -> None:
    sums = [kept.logprob for kept in store.kept]
    if hyp.logprob > min(sums):
        store.put(hyp, int(np.argmin(sums)))
        store.renew()


def _closed(_store: Store, _hyp: Hyp) -> None:
    pass


#: Words for a mistake, behind "as where" → what it does once K are kept.
MISTAKES: Mapping[str, Rule] = {
    "the least score of K kept ones is not renewed when a better one takes the worst one's place, so that "
    "the next one need not beat them": _stale,
    "the next one has to beat the one that came in last, not the worst of K kept ones": _newest,
    "the score of the one that came in is taken for the least of K kept ones": _after_newest,
    "K kept ones are brought into order once, and what comes in is compared with the last place ever after": (
        _last_slot
    ),
    "only what beats the best of K kept ones comes in": _beats_best,
    "a better one takes the place of the one that was kept first, not of the worst": _out(lambda _: 0),
    "a better one takes the first place of K kept ones, not the worst one's": _first_slot,
    "the best of K kept ones and of what finishes is thrown out, not the worst": _best_out,
    "a better one takes the place of the one that was kept last, not of the worst": _out(lambda _: -1),
    "a better one takes the place of the best of K kept ones, not of the worst": _out(
        lambda store: int(np.argmax(store.scores))
    ),
    "what finishes takes the worst one's place without being compared with it": _always(Store.worst),
    "the last K that finished are kept, whatever they score": _always(lambda _: 0),
    "K kept ones and what finishes are compared by their sums, without the penalty": _by_sum,
    "the first K that finish are kept, whatever may finish later": _closed,
}


#: Words, behind "as where" → rank among the candidates of a step, from 0, and K → whether an end is kept.
RANKS: Mapping[str, Callable[[int, int], bool]] = {
    "what finishes is kept only where it is the best candidate of its step, at rank 1 of K": (
        lambda rank, _k: rank == 0
    ),
    "what finishes as the best candidate of its step is dropped": lambda rank, _k: rank > 0,
    "what finishes at the last of K ranks is dropped": lambda rank, k: rank < k - 1,
}


@dataclass(frozen=True, slots=True)
class Way:
    """A way to search with such a store; all are right.

    Attributes:
        runners_up: Every EOS among the best 2K finishes, not only one among the best K.
        stops: It is over once the best live beam cannot beat the least of K at its longest.
        fills: Beams that are live at the end only fill what is left free.
    """

    runners_up: bool
    stops: bool
    fills: bool


WAYS = tuple(Way(*flags) for flags in itertools.product((False, True), repeat=3))


@dataclass(frozen=True, slots=True)
class Step:
    """What a step of a search gives, whatever becomes of what finishes.

    Attributes:
        finished: Among the best 2K, with their ranks.
        live: The best K that go on.
    """

    finished: tuple[tuple[int, Hyp], ...]
    live: tuple[Hyp, ...]


#: Words, behind "as where" → of a step, whether the search stops behind it.
STOPS: Mapping[str, Callable[[Step], bool]] = {
    "the search stops once K are kept and the best candidate of a step ends, whatever goes on": (
        lambda step: any(rank == 0 for rank, _hyp in step.finished)
    ),
    "the search stops once K are kept and any candidate of a step ends, whatever goes on": (
        lambda step: bool(step.finished)
    ),
    "the search stops behind the step in which K are kept, whatever goes on": lambda _step: True,
}


class Searched:
    """One search, of which live beams take the places of those that finish.

    Args:
        script: The model.
        prompt: Token ids.
        width: K.
        steps: Most new tokens.
        alpha: Length penalty's exponent.
    """

    def __init__(self, script: Script, prompt: Tokens, width: int, steps: int, alpha: float) -> None:
        self.script, self.prompt = script, prompt
        self.width, self.steps, self.alpha = width, steps, alpha

    @functools.cached_property
    def history(self) -> tuple[Step, ...]:
        """Step by step."""
        live: tuple[Hyp, ...] = (Hyp((), 0.0),)
        history: list[Step] = []
        for _step in range(self.steps):
            grown = sorted(itertools.chain(*map(self._grown, live)), key=lambda hyp: -hyp.logprob)
            best = grown[: 2 * self.width]
            ended = tuple((rank, hyp) for rank, hyp in enumerate(best) if hyp.finished)
            live = tuple([hyp for hyp in best if not hyp.finished][: self.width])
            history.append(Step(ended, live))
        return tuple(history)

    def _grown(self, hyp: Hyp) -> list[Hyp]:
        row = self.script.rows.row([*self.prompt, *hyp.tokens])
        best = np.argsort(-row, kind="stable")[: 2 * self.width].tolist()
        return [Hyp((*hyp.tokens, t), hyp.logprob + float(row[t]), t == self.script.eos) for t in best]


def stored(
    searched: Searched,
    rule: Rule,
    way: Way,
    taken: Callable[[int, int], bool] | None = None,
    over: Callable[[Step], bool] | None = None,
) -> frozenset[Tokens]:
    """The set that a search with a store returns.

    Args:
        searched: What is searched.
        rule: How the store is kept.
        way: How it searches beside that.
        taken: Rank among the candidates of a step, and K → whether what finishes there is offered to it.
        over: Of a step, whether the search stops behind it once K are kept.
    """
    store = Store(searched.width, searched.alpha)
    for step in searched.history:
        for rank, hyp in step.finished:
            offered = rank < searched.width or way.runners_up
            if offered and (taken is None or taken(rank, searched.width)):
                _offered(store, hyp, rule)
        if over and store.full and over(step):
            return frozenset(hyp.tokens for hyp in store.kept)
        reach = max(penalised(hyp.logprob, searched.steps, searched.alpha) for hyp in step.live)
        if way.stops and store.full and reach <= store.least:
            return frozenset(hyp.tokens for hyp in store.kept)
    for hyp in searched.history[-1].live:
        if not (way.fills and store.full):
            _offered(store, hyp, rule)
    return frozenset(hyp.tokens for hyp in store.kept)


def _offered(store: Store, hyp: Hyp, rule: Rule) -> None:
    if store.full:
        rule(store, hyp)
    else:
        store.kept.append(hyp)
        store.renew()
