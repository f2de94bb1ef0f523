"""Exact beam search in float64, in the variants that the challenge allows, and exhaustive search.

The variants differ in two points. Inside the search, beams of unequal length (finished
and live ones) are ranked by penalised score or by raw sum. Finished beams stay in the
pool of K, or go to a side list that is merged at the end; then they either use up one of
the K places of their step (``"side"``) or leave K live beams (``"refill"``).

HF's ``BeamSearchScorer`` is no oracle here: it takes finished beams out of the pool.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from judge_tui.checks.worker.scripted.models import Rows

__all__ = [
    "VARIANTS",
    "Counted",
    "Found",
    "Hyp",
    "Variant",
    "beam_search",
    "exhaustive",
    "greedy",
    "path_sum",
    "penalised",
]

Tokens = tuple[int, ...]
#: A beam, and whether it is new in this step → what is taken for its length.
Counted: TypeAlias = "Callable[[Hyp, bool], float]"


@dataclass(frozen=True, slots=True)
class Hyp:
    """A hypothesis: generated tokens (a final EOS included) and the sum of their log-probabilities."""

    tokens: Tokens
    logprob: float
    finished: bool = False

    def score(self, alpha: float) -> float:
        """``logprob / length ** alpha``."""
        return penalised(self.logprob, len(self.tokens), alpha)


@dataclass(frozen=True, slots=True)
class Found:
    """What a search returns, best first, and the smallest gap by which anything in it was decided."""

    hyps: tuple[Hyp, ...]
    margin: float

    @property
    def best(self) -> Hyp:
        """The winner."""
        return self.hyps[0]

    @property
    def sequences(self) -> frozenset[Tokens]:
        """The returned sequences, without order."""
        return frozenset(hyp.tokens for hyp in self.hyps)


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to search that the challenge's text allows.

    Attributes:
        finished: Where finished beams are kept.
        rank: What beams are ranked by inside the search.
    """

    finished: Literal["pool", "side", "refill"] = "pool"
    rank: Literal["score", "sum"] = "score"

    def __str__(self) -> str:
        if self.finished == "side":
            return "a side list, merged at the end"
        if self.finished == "refill":
            return "a side list, its places given to live beams"
        return "a pool ranked by " + ("penalised score" if self.rank == "score" else "raw sum")


#: With side lists all candidates of a step have one length, so raw sum and penalised score rank alike.
VARIANTS = (Variant("pool", "score"), Variant("pool", "sum"), Variant("side"), Variant("refill"))


def penalised(logprob: float, length: float, alpha: float) -> float:
    """Score of a sum over ``length`` tokens; an empty sequence scores its sum, 0."""
    return float(logprob / length**alpha) if length else float(logprob)


def path_sum(rows: Rows, prompt: Sequence[int], tokens: Sequence[int]) -> float:
    """Sum of the log-probabilities of ``tokens`` after ``prompt``."""
    prefix, total = list(prompt), 0.0
    for token in tokens:
        total += float(rows.row(prefix)[token])
        prefix.append(token)
    return total


def beam_search(
    rows: Rows,
    prompt: Sequence[int],
    width: int,
    steps: int,
    alpha: float,
    eos: int,
    variant: Variant = VARIANTS[0],
    *,
    counted: Counted | None = None,
    at_end: Counted | None = None,
) -> Found:
    """Search as one variant does.

    Args:
        rows: The model.
        prompt: Token ids.
        width: K.
        steps: Most new tokens.
        alpha: Length penalty's exponent.
        eos: Token id that ends a sequence.
        variant: Which way.
        counted: A beam, and whether it is of this step → what the search takes for its length; its tokens,
            when left out.
        at_end: The same for the order of what is returned.
    """
    ranked_by = alpha if variant.rank == "score" else 0.0
    pool, side = [Hyp((), 0.0)], []
    margin = float("inf")
    for _step in range(steps):
        live = [hyp for hyp in pool if not hyp.finished]
        if not live:
            break
        grown = [new for hyp in live for new in _grown(rows, prompt, hyp, width, eos)]
        if variant.finished == "pool":
            ended = [hyp for hyp in pool if hyp.finished]
            pool, gap = _kept(grown + ended, width, ranked_by, counted, len(grown))
        elif variant.finished == "side":
            chosen, gap = _kept(grown, width, ranked_by, counted, len(grown))
            side += [hyp for hyp in chosen if hyp.finished]
            pool = [hyp for hyp in chosen if not hyp.finished]
        else:
            side += [hyp for hyp in _kept(grown, width, ranked_by, counted, len(grown))[0] if hyp.finished]
            live = [hyp for hyp in grown if not hyp.finished]
            pool, gap = _kept(live, width, ranked_by, counted, len(live))
        margin = min(margin, gap)
    last, gap = _kept(pool + side, width, alpha, at_end)
    scores = [hyp.score(alpha) for hyp in last]
    gaps = [one - other for one, other in itertools.pairwise(scores)]
    return Found(tuple(last), min([margin, gap, *gaps]))


def _grown(rows: Rows, prompt: Sequence[int], hyp: Hyp, width: int, eos: int) -> list[Hyp]:
    """Its best continuations: width + 1 of them hold every survivor, since EOS is only one token."""
    row = rows.row([*prompt, *hyp.tokens])
    best = np.argsort(-row, kind="stable")[: width + 2]
    grown = zip(best.tolist(), row[best].tolist(), strict=True)
    return [Hyp((*hyp.tokens, token), hyp.logprob + value, token == eos) for token, value in grown]


def _kept(
    hyps: list[Hyp], width: int, alpha: float, counted: Counted | None = None, new: int = 0
) -> tuple[list[Hyp], float]:
    """The best ``width``, and how far the next one is behind the last of them; the first ``new`` are new."""
    lengths = [counted(hyp, at < new) if counted else len(hyp.tokens) for at, hyp in enumerate(hyps)]
    scores = [penalised(hyp.logprob, n, alpha) for hyp, n in zip(hyps, lengths, strict=True)]
    order = sorted(range(len(hyps)), key=lambda at: -scores[at])
    ranked = [hyps[at] for at in order]
    if len(ranked) <= width:
        return ranked, float("inf")
    return ranked[:width], scores[order[width - 1]] - scores[order[width]]


def greedy(rows: Rows, prompt: Sequence[int], steps: int, eos: int) -> tuple[Hyp, float]:
    """Argmax decoding until EOS, and the smallest lead of an argmax over the next token."""
    hyp, margin = Hyp((), 0.0), float("inf")
    while len(hyp.tokens) < steps and not hyp.finished:
        row = rows.row([*prompt, *hyp.tokens])
        second, first = np.sort(row)[-2:]
        token = int(np.argmax(row))
        margin = min(margin, float(first - second))
        hyp = Hyp((*hyp.tokens, token), hyp.logprob + float(row[token]), token == eos)
    return hyp, margin


def exhaustive(rows: Rows, prompt: Sequence[int], steps: int, alpha: float, eos: int) -> Found:
    """Every sequence that ends with EOS or has ``steps`` tokens, best first."""
    open_, done = [Hyp((), 0.0)], []
    for _step in range(steps):
        grown = [
            Hyp((*hyp.tokens, token), hyp.logprob + float(value), token == eos)
            for hyp in open_
            for token, value in enumerate(rows.row([*prompt, *hyp.tokens]))
        ]
        done += [hyp for hyp in grown if hyp.finished]
        open_ = [hyp for hyp in grown if not hyp.finished]
    ranked = sorted(done + open_, key=lambda hyp: -hyp.score(alpha))
    lead = ranked[0].score(alpha) - ranked[1].score(alpha) if len(ranked) > 1 else float("inf")
    return Found(tuple(ranked), lead)
