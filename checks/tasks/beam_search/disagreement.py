"""Draws on which ways to search differ: what tells them apart, the same for every submission of a run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.tasks.beam_search.oracle import (
    VARIANTS,
    Counted,
    Found,
    Hyp,
    Variant,
    beam_search,
)
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens, distinct, hashed

__all__ = ["ALPHA", "MISTAKEN", "STEPS", "Draw", "by_finished", "by_mistake", "by_rank"]

STEPS = 5
#: The penalty of draws on which rankings differ.
ALPHA = 0.8
_CLEAR = 1e-3


@dataclass(frozen=True, slots=True)
class Draw:
    """A search whose answer depends on the way.

    Attributes:
        script: The model.
        prompt: The prompt.
        width: K.
        alpha: The penalty's exponent.
        truths: What each way returns.
    """

    script: Script
    prompt: Tokens
    width: int
    alpha: float
    truths: Mapping[Variant, Found]

    @property
    def clear(self) -> bool:
        """Whether rounding decides nothing in any of them."""
        return min(truth.margin for truth in self.truths.values()) > _CLEAR


def _drawn(words: list[int], vocab: int, width: int, alpha: float, prompt: int, bias: float) -> Draw:
    """A draw at a V of about ``vocab``, of which a seed takes the first that tell the ways apart."""
    rng = np.random.default_rng(words)
    vocab += int(rng.integers(-1, 3))
    eos = int(rng.integers(vocab))
    script = hashed(rng, vocab, eos, bias=bias)
    tokens = tuple(distinct(rng, vocab, prompt, but=(eos,)))
    truths = {v: beam_search(script.rows, tokens, width, STEPS, alpha, eos, v) for v in VARIANTS}
    return Draw(script, tokens, width, alpha, truths)


@functools.lru_cache(maxsize=8)
def by_finished(seed: int) -> tuple[Draw, ...]:
    """Six draws on which a pool and both side lists return other sets; raw sum and score rank alike."""
    found: list[Draw] = []
    for index in range(300):
        draw = _drawn([seed, 1, index], 7, 2 + index % 2, 0.0, 2, 0.6)
        sets = {draw.truths[v].sequences for v in (VARIANTS[0], *VARIANTS[2:])}
        if len(sets) == 3 and draw.clear:
            found.append(draw)
        if len(found) == 6:
            break
    return tuple(found)


@functools.lru_cache(maxsize=8)
def by_rank(seed: int) -> tuple[Draw, ...]:
    """Six draws on which ranking by raw sum and by penalised score inside the search find other winners."""
    found: list[Draw] = []
    for index in range(300):
        draw = _drawn([seed, 2, index], 8, 2, ALPHA, 3, 0.3)
        score, raw = (draw.truths[v].best.tokens for v in VARIANTS[:2])
        if score != raw and draw.clear:
            found.append(draw)
        if len(found) == 6:
            break
    return tuple(found)


#: What a beam may be ranked by while searching instead of its score, as a clause; as what then stands for its
#: length, by the prompt's length.
MISTAKEN: Mapping[str, Callable[[int], Counted]] = {
    "the prompt is counted as length": lambda prompt: lambda hyp, _new: len(hyp.tokens) + prompt,
    "a new beam is ranked by the length of its parent": lambda _: lambda hyp, new: len(hyp.tokens) - new or 1,
    "a new beam is ranked as one token longer than it is": lambda _: lambda hyp, new: len(hyp.tokens) + new,
    "beams are ranked by sum × length^alpha": lambda _: lambda hyp, _new: 1 / max(len(hyp.tokens), 1),
    "beams are ranked by twice the exponent": lambda _: lambda hyp, _new: len(hyp.tokens) ** 2,
    "ended beams are ranked by their sum, the others by their score": lambda _: (
        lambda hyp, _new: 1 if hyp.finished else len(hyp.tokens)
    ),
    "beams that go on are ranked by their sum, the others by their score": lambda _: (
        lambda hyp, _new: len(hyp.tokens) if hyp.finished else 1
    ),
}

#: What explains as much where all draws are alike: each other mistake, and a constant that is added.
_RIVALS: Mapping[str, Callable[[int], Counted]] = {
    **MISTAKEN,
    "one more": lambda _: lambda hyp, _new: len(hyp.tokens) + 1,
    "two more": lambda _: lambda hyp, _new: len(hyp.tokens) + 2,
    "three more": lambda _: lambda hyp, _new: len(hyp.tokens) + 3,
}


def _without_eos(hyp: Hyp, _new: bool) -> int:
    """A length that EOS is no part of, as the challenge's wording allows."""
    return len(hyp.tokens) - hyp.finished or 1


@functools.lru_cache(maxsize=24)
def by_mistake(seed: int, mistake: str) -> tuple[tuple[Draw, Found], ...]:
    """Four draws on which one of :data:`MISTAKEN` gives a set that no right way gives, and that set.

    No other mistake gives all four of these sets, nor does a constant that is added to the lengths, where
    draws are found that tell them apart.
    """
    found: list[tuple[Draw, Found]] = []
    spare: list[tuple[Draw, Found]] = []
    alike = {*_RIVALS} - {mistake}
    salt = 3 + list(MISTAKEN).index(mistake)
    for index in range(400):
        prompt = 1 + index % 3
        draw = _drawn([seed, salt, index], 8, 3, 1.0, prompt, 0.5)
        searched = functools.partial(
            beam_search, draw.script.rows, draw.prompt, 3, STEPS, 1.0, draw.script.eos
        )
        wrong = searched(counted=MISTAKEN[mistake](prompt))
        free = (searched(variant=v, counted=_without_eos, at_end=_without_eos) for v in VARIANTS)
        sets = {truth.sequences for truth in (*draw.truths.values(), *free)}
        if wrong.sequences in sets or not draw.clear or wrong.margin <= _CLEAR:
            continue
        others = {rival: searched(counted=_RIVALS[rival](prompt)) for rival in alike}
        left = {r for r, o in others.items() if o.sequences == wrong.sequences or o.margin <= _CLEAR}
        # Each tells something apart that those before have not, and the last one what is left.
        if alike and found and (left if len(found) == 3 else left == alike):
            spare.append((draw, wrong))
            continue
        found.append((draw, wrong))
        alike = left
        if len(found) == 4:
            break
    found += spare[: 4 - len(found)]
    return tuple(found) if len(found) == 4 else ()
