"""Searches that go wrong in one known way: which of them gives every winner that a submission returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from judge_tui.checks.size_conditions import only_where
from judge_tui.checks.tasks.beam_search.oracle import Hyp
from judge_tui.checks.tasks.beam_search.scripts import Tokens
from judge_tui.checks.tasks.beam_search.searching import Answer
from judge_tui.checks.worker.scripted.models import Rows

__all__ = [
    "ENDED_FIRST", "OF_PLACES", "goes_wrong", "sets_of", "sizes_of_wrong", "stopped_early", "winners_of",
]  # fmt: skip

#: So many winners at least have to be others than a right search gives.
_LEAST = 2
#: Of so many that fit, any may be meant; more say nothing.
_AT_MOST = 2
ENDED_FIRST = "ended beams keep their places before all others"
_EARLY = "the search stops as soon as its best beam has ended"
#: A beam, and its last log-probability → what it is ranked by while searching.
_Key: TypeAlias = "Callable[[Hyp, float, float], float]"


def _score(hyp: Hyp, _last: float, alpha: float) -> float:
    return hyp.score(alpha)


@dataclass(frozen=True, slots=True)
class _Ways:
    """How a search goes.

    Attributes:
        width: K and V → how many beams are kept.
        grown: K → how many tokens behind each beam are looked at; None for all.
        key: What beams are ranked by.
        first: Which beams have their places before others, ``places`` where they are those that ended before,
            or are lost; empty for none.
        begins: Live beams, in order → those that are expanded.
        stops: Beams in order, K → whether the search is over.
        returns: Beams in order → those that may be returned.
        merged: Whether of new beams with one last token the best alone is kept.
        apart: Whether each beam goes on with its own best token once there are K.
        steps: Steps less than asked for.
        barred: Whether EOS can never come.
        lowest: Whether the least likely tokens behind a beam are looked at.
        rest: Whether live beams that are not expanded stay as they are.
        renewed: Whether ended beams are ranked by their sums from their second step on.
        side: Whether ended beams leave the pool for a list that is merged at the end.
        refill: Whether live beams take the places of those that end beside them.
        left: Whether the model is asked behind what the beams before in its loop have read.
        masked: From which step on EOS is lost whose rank is past the live beams before it; None for never.
    """

    width: Callable[[int, int], int] = field(default=lambda k, _v: k)
    grown: Callable[[int], int] | None = None
    key: _Key = _score
    first: str = ""
    begins: Callable[[list[Hyp]], list[Hyp]] = field(default=lambda live: live)
    stops: Callable[[list[Hyp], int], bool] = field(default=lambda _b, _k: False)
    returns: Callable[[list[Hyp]], list[Hyp]] = field(default=lambda beams: beams)
    merged: bool = False
    apart: bool = False
    steps: int = 0
    barred: bool = False
    lowest: bool = False
    rest: bool = False
    renewed: bool = False
    side: bool = False
    refill: bool = False
    left: bool = False
    masked: int | None = None


#: Where ended beams are kept: in the pool; in a list of their own; or there, their places given away.
_KEPT = ((False, False), (True, False), (True, True))


def _ended(beams: Sequence[Hyp]) -> list[Hyp]:
    return [hyp for hyp in beams if hyp.finished]


def _live(beams: Sequence[Hyp]) -> list[Hyp]:
    return [hyp for hyp in beams if not hyp.finished]


#: Words, behind "as where" → how the search goes then, in one way or another.
_MISTAKES: Mapping[str, Sequence[_Ways]] = {
    "one beam alone is kept whatever K is, or all K are the same one": [_Ways(width=lambda _k, _v: 1)],
    "one beam fewer than K is kept": [_Ways(width=lambda k, _v: max(k - 1, 1))],
    "no more than V - 1 beams are kept where K is V or more": [
        _Ways(width=lambda k, v: max(min(k, v - 1), 1))
    ],
    "no more than V beams are kept where K is more": [_Ways(width=min)],
    "no more than V / 2 beams are kept where K is more": [_Ways(width=lambda k, v: max(min(k, v // 2), 1))],
    "a beam that ends is lost where its rank among the new ones is that of a place that no live beam had": [
        _Ways(masked=1),
        _Ways(masked=0),
    ],
    "one token behind each beam is looked at, not K": [_Ways(grown=lambda _: 1)],
    "two tokens behind each beam are looked at, not K": [_Ways(grown=lambda _: 2)],
    "the best beam alone is expanded": [
        _Ways(begins=lambda live: live[:1]),
        _Ways(begins=lambda live: live[:1], rest=True),
    ],
    "each beam goes on with its own best token, and does not compete with the others": [_Ways(apart=True)],
    "beams that end in the same token are taken for one": [_Ways(merged=True)],
    "beams are ranked by their last token's log-probability alone": [
        _Ways(key=lambda _h, last, _a: last),
        _Ways(key=lambda _h, last, _a: last, renewed=True),
    ],
    "the least likely tokens are looked at": [
        _Ways(lowest=True, grown=lambda k: k),
        _Ways(lowest=True, grown=lambda k: 2 * k),
    ],
    "the beams that score least are kept": [
        _Ways(key=lambda hyp, _l, alpha: -hyp.score(alpha), grown=lambda _: 1 << 30)
    ],
    "the search stops as soon as one beam has ended": [_Ways(stops=lambda beams, _: bool(_ended(beams)))],
    _EARLY: [_Ways(stops=lambda beams, _: beams[0].finished)],
    "the search stops as soon as K beams have ended, whatever goes on": [
        _Ways(stops=lambda beams, k: len(_ended(beams)) >= k)
    ],
    "beams that have ended are dropped": [_Ways(first="dropped"), _Ways(first="lost")],
    "the longest beams are kept, whatever they score": [
        _Ways(key=lambda hyp, _l, alpha: 1000.0 * len(hyp.tokens) + hyp.score(alpha))
    ],
    "beams that have not ended are thrown away once one has": [_Ways(returns=lambda b: _ended(b) or b)],
    ENDED_FIRST: [_Ways(first="ended"), _Ways(first="places")],
    "live beams take their places before those that have ended": [_Ways(first="live")],
    "EOS never comes": [_Ways(barred=True)],
    "the search is one step short": [_Ways(steps=1)],
    "a beam goes on from the state that the beam before it in the loop left behind, not from its own": [
        _Ways(left=True)
    ],
}


#: Ways to go wrong that show where tokens are few: places of a width about V, or free ones.
OF_PLACES: Sequence[str] = tuple(words for words in _MISTAKES if "V" in words or "place that no" in words)


def goes_wrong(answers: Sequence[Answer], *, exact: bool = True) -> str:
    """The mistake, or the two, that give the winner of every search, in words behind "as where"; or nothing.

    Args:
        answers: Searches of one prompt each.
        exact: Whether scores are those of the tokens; else what leaves them right is no cause.
    """
    searches, told = _asked(answers)
    right = [_best(asked, _Ways()) for asked in searches]
    if sum(one != other for one, other in zip(told, right, strict=True)) < _LEAST:
        return ""
    if not all(each.ranks for each in answers):
        # Scores are sums: what else would give the same winners by chance is no cause.
        plain = [replace(asked, alpha=0.0) for asked in searches]
        if any(_gives(plain, told, kept) for kept in _each_kept(_Ways())):
            return "beams are ranked by their sums, without the penalty"
    fit = [
        words
        for words, several in _MISTAKES.items()
        if any(
            _gives(searches, told, kept)
            for ways in several
            if exact or ways.left or ways.key is not _score
            for kept in _each_kept(ways)
        )
    ]
    return " or ".join(fit) if len(fit) <= _AT_MOST else ""


def sizes_of_wrong(answers: Sequence[Answer]) -> str:
    """What sizes wrong winners have in common and right ones have not, as a clause; empty where nothing is.

    Args:
        answers: Searches of one prompt each.
    """
    searches, told = _asked(answers)
    calls = [
        (
            {"K": asked.width, "V": asked.rows.vocab_size, "the number of steps": asked.steps},
            any(_best(asked, kept) == tokens for kept in _each_kept(_Ways())),
        )
        for asked, tokens in zip(searches, told, strict=True)
    ]
    where = only_where(calls, compared=[("K", "V")], limits=True)
    return f"; {where}" if where else ""


def _asked(answers: Sequence[Answer]) -> tuple[list[_Asked], list[Tokens]]:
    """What is searched, and the winners."""
    searches = [
        _Asked(each.script.rows, each.prompts[0], each.width, each.steps, each.alpha, each.script.eos)
        for each in answers
    ]
    winners = [one.winner() for one in answers]
    return searches, [winner.tokens if winner else () for winner in winners]


def _each_kept(ways: _Ways) -> Iterator[_Ways]:
    return (replace(ways, side=side, refill=refill) for side, refill in _KEPT)


def winners_of(
    rows: Rows, prompt: Tokens, width: int, steps: int, alpha: float, eos: int, words: str
) -> set[Tokens]:
    """The winners of a search that goes wrong in one known way, wherever it keeps what has ended.

    Args:
        rows: The model.
        prompt: Token ids.
        width: K.
        steps: Most new tokens.
        alpha: The penalty's exponent.
        eos: Ends a sequence.
        words: One of :data:`OF_PLACES`.
    """
    asked = _Asked(rows, prompt, width, steps, alpha, eos)
    return {_best(asked, kept) for ways in _MISTAKES[words] for kept in _each_kept(ways)}


def stopped_early(rows: Rows, prompt: Tokens, width: int, steps: int, alpha: float, eos: int) -> Tokens:
    """The winner of a search that stops as soon as its best beam has ended.

    Args:
        rows: The model.
        prompt: Token ids.
        width: K.
        steps: Most new tokens.
        alpha: The penalty's exponent.
        eos: Ends a sequence.
    """
    return _best(_Asked(rows, prompt, width, steps, alpha, eos), _MISTAKES[_EARLY][0])


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is searched."""

    rows: Rows
    prompt: Tokens
    width: int
    steps: int
    alpha: float
    eos: int


def _gives(searches: Sequence[_Asked], told: Sequence[Tokens], ways: _Ways) -> bool:
    return all(_best(asked, ways) == tokens for asked, tokens in zip(searches, told, strict=True))


def sets_of(
    rows: Rows, prompt: Tokens, width: int, steps: int, alpha: float, eos: int, words: str
) -> set[frozenset[Tokens]]:
    """The K best of a search that goes wrong in one known way, wherever it keeps what has ended.

    Args:
        rows: The model.
        prompt: Token ids.
        width: K.
        steps: Most new tokens.
        alpha: The penalty's exponent.
        eos: Ends a sequence.
        words: One of :data:`ENDED_FIRST`, :data:`OF_PLACES`.
    """
    asked = _Asked(rows, prompt, width, steps, alpha, eos)
    each = (_found(asked, kept) for ways in _MISTAKES[words] for kept in _each_kept(ways))
    return {frozenset(hyp.tokens for hyp in found[:width]) for found in each}


def _best(asked: _Asked, ways: _Ways) -> Tokens:
    """The winner of a search that goes so."""
    found = _found(asked, ways)
    return found[0].tokens if found else ()


def _found(asked: _Asked, ways: _Ways) -> list[Hyp]:
    """What a search that goes so may return, best first."""
    width, alpha = ways.width(asked.width, asked.rows.vocab_size), asked.alpha
    pool: list[tuple[float, Hyp]] = [(0.0, Hyp((), 0.0))]
    side: list[Hyp] = []
    read = list(asked.prompt) if ways.left else None
    for step in range(asked.steps - ways.steps):
        live = _live([hyp for _, hyp in pool])
        if not live:
            break
        chosen = ways.begins(live)
        old = [
            (hyp.logprob if ways.renewed else key, hyp)
            for key, hyp in pool
            if (hyp.finished and ways.first != "dropped") or (ways.rest and hyp not in chosen)
        ]
        new = _expanded(asked, ways, chosen, read)
        if ways.masked is not None and step >= ways.masked:
            new = _unmasked(new, len(live))
        pool = _kept(new, old, width, ways)
        if ways.side or ways.first == "lost":
            side += _ended([hyp for _, hyp in pool]) if ways.side else []
            pool = [(key, hyp) for key, hyp in pool if not hyp.finished]
        whole = sorted([*(hyp for _, hyp in pool), *side], key=lambda hyp: -hyp.score(alpha))
        if not pool or ways.stops(whole, asked.width):
            break
    found = ways.returns([*(hyp for _, hyp in pool), *side])
    return sorted(found, key=lambda hyp: -hyp.score(alpha))


def _kept(
    new: list[tuple[float, Hyp]], old: list[tuple[float, Hyp]], width: int, ways: _Ways
) -> list[tuple[float, Hyp]]:
    """The best of new and old beams, or those first that have their places first."""
    if ways.first == "places":
        return [*old, *sorted(new, key=lambda pair: -pair[0])[: max(width - len(old), 0)]]
    both = sorted([*new, *old], key=lambda pair: -pair[0])
    if ways.refill:
        live = [pair for pair in both if not pair[1].finished]
        return [*(pair for pair in both[:width] if pair[1].finished), *live[:width]]
    if ways.first in ("ended", "live"):
        both.sort(key=lambda pair: pair[1].finished is (ways.first == "live"))
    return both[:width]


def _unmasked(new: list[tuple[float, Hyp]], count: int) -> list[tuple[float, Hyp]]:
    """Without those that end past so many of the best."""
    ranked = sorted(new, key=lambda pair: -pair[0])
    return [pair for rank, pair in enumerate(ranked) if rank < count or not pair[1].finished]


def _expanded(asked: _Asked, ways: _Ways, live: list[Hyp], read: list[int] | None) -> list[tuple[float, Hyp]]:
    """New beams with what they are ranked by; ``read`` is what a model has read that all of them share."""
    new: list[tuple[float, Hyp]] = []
    alone = ways.apart and len(live) >= ways.width(asked.width, asked.rows.vocab_size)
    count = 1 if alone else ways.grown(asked.width) if ways.grown else asked.width + 1
    for hyp in live:
        if read is not None:
            read += hyp.tokens[-1:]
        row = asked.rows.row([*asked.prompt, *hyp.tokens] if read is None else read)
        order = np.argsort(row if ways.lowest else -row, kind="stable")
        for token in order[order != asked.eos if ways.barred else slice(None)][:count].tolist():
            last = float(row[token])
            grown = Hyp((*hyp.tokens, token), hyp.logprob + last, token == asked.eos)
            new.append((ways.key(grown, last, asked.alpha), grown))
    if not ways.merged:
        return new
    kept: dict[int, tuple[float, Hyp]] = {}
    for pair in sorted(new, key=lambda pair: -pair[0]):
        kept.setdefault(pair[1].tokens[-1], pair)
    return list(kept.values())
