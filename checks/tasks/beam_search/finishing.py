"""Whether of many hypotheses that finish one after another the K best are returned, in whatever order.

On these models every right search returns one set, wherever it keeps what has finished, and whenever it
stops; a store of which another one goes than the worst, or which takes one in that is worse than all it
holds, returns others.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.beam_search.oracle import VARIANTS, Hyp, beam_search, path_sum, penalised
from judge_tui.checks.tasks.beam_search.places import eos_place
from judge_tui.checks.tasks.beam_search.pools import MISTAKES, RANKS, STOPS, WAYS, Searched, right, stored
from judge_tui.checks.tasks.beam_search.scripts import Tokens, distinct, table
from judge_tui.checks.tasks.beam_search.searching import Search, written

__all__ = ["Finishing", "finishing", "hold_finishing"]

_ATTEMPTS = 800
#: Draws that tell a mistake from what is right.
_EACH = 3
_MOST = 20
_CLEAR = 1e-3
#: So many mistakes that explain all a sentence names.
_NAMED = 2
#: What tokens beside EOS and those of a chain have, all together.
_REST = 0.005
_ALPHAS = (0.0, 0.0, 0.0, 0.7, 1.0)


@dataclass(frozen=True, slots=True)
class Finishing:
    """A search in which more than K hypotheses finish.

    Attributes:
        searched: It.
        right: The sets of every right way, EOS in the length or not.
        told: Mistakes that give other sets, each alone; and pairs of which one does that give different ones.
    """

    searched: Searched
    right: frozenset[frozenset[Tokens]]
    told: frozenset[frozenset[str]]


@functools.lru_cache(maxsize=8)
def finishing(seed: int) -> tuple[Finishing, ...]:
    """Draws that tell each mistake from what is right, and from each other where that is found in time."""
    left: Counter[frozenset[str]] = Counter()
    for words in MISTAKES:
        left[frozenset({words})] = _EACH
        left.update(frozenset({words, other}) for other in MISTAKES if other < words)
    found: list[Finishing] = []
    for index in range(_ATTEMPTS):
        if not +left or len(found) == _MOST:
            break
        searched = _drawn(np.random.default_rng([seed, 40, index]), 2 + index % 2, _ALPHAS[index % 5])
        if sets := _right(searched):
            draw = Finishing(searched, sets, frozenset(_apart(searched, sets)))
            if any(left[each] > 0 for each in draw.told):
                found.append(draw)
                left.subtract(draw.told)
    return tuple(found)


def _apart(searched: Searched, right_sets: frozenset[frozenset[Tokens]]) -> Iterator[frozenset[str]]:
    """Single mistakes that are told from what is right, whatever the way; pairs, from each other too."""
    sets = {words: {stored(searched, rule, way) for way in WAYS} for words, rule in MISTAKES.items()}
    told = [words for words in MISTAKES if not sets[words] & right_sets]
    yield from (frozenset({words}) for words in told)
    for one, other in itertools.combinations(MISTAKES, 2):
        if (one in told or other in told) and not sets[one] & sets[other]:
            yield frozenset({one, other})


def _drawn(rng: np.random.Generator, width: int, alpha: float) -> Searched:
    """One token after the other goes on for sure where EOS does not come: one such chain, or two."""
    vocab, steps, chains = int(rng.integers(40, 70)), int(rng.integers(5, 8)), int(rng.integers(1, 3))
    eos, on, *others = distinct(rng, vocab, 7)
    prompt, firsts = tuple(others[: int(rng.integers(1, 4))]), others[3 : 3 + chains]
    ends = float(rng.uniform(0.02, 0.6))
    shares = rng.uniform(0.3, 1.0, chains)
    shares *= (1.0 - _REST - ends) / shares.sum()
    entries = {prompt: {eos: float(np.log(ends)), **_logs(firsts, shares.tolist())}}
    for first in firsts:
        text = (*prompt, first)
        for step in range(1, steps):
            ends = (
                0.99 if step == steps - 1 else (1.0 - _REST) / (1.0 + float(np.exp(rng.uniform(-3.5, 3.5))))
            )
            entries[text] = _logs([eos, on], [ends, 1.0 - _REST - ends])
            text = (*text, on)
    return Searched(table(rng, vocab, eos, entries), prompt, width, steps, alpha)


def _logs(tokens: Sequence[int], shares: Sequence[float]) -> dict[int, float]:
    return dict(zip(tokens, np.log(shares).tolist(), strict=True))


def _right(searched: Searched) -> frozenset[frozenset[Tokens]]:
    """The set that all right ways return, and the one where EOS is in no length; none where they differ."""
    whole = {stored(searched, right, way) for way in WAYS}
    free: set[frozenset[Tokens]] = set()
    for variant in VARIANTS if len(whole) == 1 else ():
        for counted, sets in ((None, whole), (_without_eos, free))[: 1 + (searched.alpha > 0.0)]:
            truth = beam_search(
                searched.script.rows, searched.prompt, searched.width, searched.steps, searched.alpha,
                searched.script.eos, variant, counted=counted, at_end=counted,
            )  # fmt: skip
            sets.add(truth.sequences)
            if truth.margin <= _CLEAR or len(whole) > 1:
                return frozenset()
    return frozenset(whole | free) if len(whole) == 1 else frozenset()


def _without_eos(hyp: Hyp, _new: bool) -> int:
    return len(hyp.tokens) - hyp.finished or 1


def hold_finishing(bench: Bench, found: Findings, search: Search) -> tuple[str, bool]:
    """Hold the returned sets; where a penalty is in play, only once a known mistake explains every set.

    Returns:
        What is wrong, as a clause, empty where nothing is; and whether a known mistake explains it.
    """
    draws, wrong, came = finishing(bench.seed), list[str](), list[frozenset[Tokens]]()
    for draw in draws:
        of = draw.searched
        answer = search(of.script, [of.prompt], of.width, of.steps, of.alpha)
        returned = frozenset(beam.tokens for beam in answer.beams[0])
        came.append(returned)
        # What a search cuts short that knows its best is told beside.
        short = any(len(tokens) < of.steps and of.script.eos not in tokens for tokens in returned)
        if returned not in draw.right and not short and not of.alpha:
            wrong.append(_told(of, returned, next(iter(draw.right))))
    mistake = _explained(draws, came)
    if mistake and not wrong:
        wrong = [
            _told(draw.searched, returned, next(iter(draw.right)))
            for draw, returned in zip(draws, came, strict=True)
            if returned not in draw.right
        ]
    count = len(draws)
    found.claim(
        "of hypotheses that finish one after another the K best are returned, searches", not wrong,
        measured=f"{count - len(wrong)} of {count}", limit=f"{count} of {count}",
        note=f"{wrong[0]}{f'; as where {mistake}' if mistake else ''}" if wrong else "", **eos_place(search),
    )  # fmt: skip
    if not wrong:
        return "", False
    cause = f", as where {mistake}" if mistake else ""
    return (
        f"of many that finish a worse one is kept in {len(wrong)} of {count} searches{cause}: {wrong[0]}",
        bool(cause),
    )


def _explained(draws: Sequence[Finishing], came: Sequence[frozenset[Tokens]]) -> str:
    """Mistakes that give every set that came, in one of the ways to search; empty for none."""
    pairs = list(zip(draws, came, strict=True))
    if all(sets in draw.right for draw, sets in pairs):
        return ""
    fit = [
        words
        for words, rule in MISTAKES.items()
        if any(all(stored(draw.searched, rule, way) == sets for draw, sets in pairs) for way in WAYS)
    ]
    fit += [
        words
        for words, taken in RANKS.items()
        if any(all(stored(draw.searched, right, way, taken) == sets for draw, sets in pairs) for way in WAYS)
    ]
    fit += [
        words
        for words, over in STOPS.items()
        if any(
            all(stored(draw.searched, right, way, over=over) == sets for draw, sets in pairs) for way in WAYS
        )
    ]
    return " or ".join(fit[:_NAMED])


def _told(of: Searched, returned: frozenset[Tokens], wanted: frozenset[Tokens]) -> str:
    """Which is returned that should not be, and which is not."""
    sums = {
        tokens: penalised(path_sum(of.script.rows, of.prompt, tokens), len(tokens), of.alpha)
        for tokens in returned | wanted
    }
    eos = of.script.eos
    lost = max(wanted - returned, key=sums.__getitem__, default=None)
    odd = max(returned - wanted, key=sums.__getitem__, default=None)
    at = f"K = {of.width}, alpha {of.alpha:g}"
    if lost is None:
        return f"{at}: {written(odd or (), eos)} is returned beside the K best"
    told = f"{at}: {written(lost, eos)} at {sums[lost]:.4g} is missing"
    return told + (f", {written(odd, eos)} at {sums[odd]:.4g} is returned" if odd is not None else "")
