"""Searches of few tokens at widths about their number and above it: places stay free, and nothing is lost.

Every right way to search has the same winner in each. Where there is room for all sequences that exist, a
search of K may return them all.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Raised
from judge_tui.checks.tasks.beam_search.mistaken import OF_PLACES, winners_of
from judge_tui.checks.tasks.beam_search.oracle import VARIANTS, Found, beam_search
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens, certain, distinct, hashed
from judge_tui.checks.tasks.beam_search.searching import Answer, Search, written
from judge_tui.checks.verdict import Verdict

__all__ = ["Roomy", "hold_few_tokens", "roomy"]

#: V and steps, and what is drawn of each mistake that shows there.
_SHAPES = ((2, 4), (3, 4), (2, 5), (3, 3), (2, 3), (4, 3))
_EACH, _MOST, _ATTEMPTS = 2, 14, 130
_CLEAR = 1e-4
#: V of models of which few tokens are possible, and how many of them there are.
_LARGE, _BARRED = (9, 30), 2


@dataclass(frozen=True, slots=True)
class Roomy:
    """A search whose winner every right way agrees on.

    Attributes:
        script: The model.
        prompt: Token ids.
        width: K.
        steps: Most new tokens.
        best: The winner.
        all: Every sequence there is where K has room for them, and all right ways return them; else none.
        possible: How many tokens are possible; all others have a log-probability of -inf.
    """

    script: Script
    prompt: Tokens
    width: int
    steps: int
    best: Tokens
    all: frozenset[Tokens]
    possible: int

    def __str__(self) -> str:
        few = "" if self.possible == self.script.vocab_size else f", {self.possible} of them possible"
        return f"V = {self.script.vocab_size}{few}, {self.steps} steps, K = {self.width}"


@functools.lru_cache(maxsize=8)
def roomy(seed: int) -> tuple[Roomy, ...]:
    """Draws, of which each known mistake of places gives other winners in some.

    Args:
        seed: Of the draws.
    """
    left = Counter(dict.fromkeys(OF_PLACES, _EACH))
    found: list[Roomy] = []
    for index in range(_ATTEMPTS):
        if not +left or len(found) == _MOST:
            break
        draw = _drawn(np.random.default_rng([seed, 7, index]), *_SHAPES[index % len(_SHAPES)])
        told = list(_shown(draw)) if draw else []
        if draw and (index < len(_SHAPES) or any(left[words] > 0 for words in told)):
            found.append(draw)
            left.subtract(told)
    masked = [draw for draw in found if draw.possible == 2]
    barred = [_embedded(np.random.default_rng([seed, 8, at]), draw) for at, draw in enumerate(masked)]
    return (*found, *barred[:_BARRED])


def _drawn(rng: np.random.Generator, vocab: int, steps: int) -> Roomy | None:
    """A model of few tokens, searched at a width from V to that of all sequences; none where ways differ."""
    eos = int(rng.integers(vocab))
    script = hashed(rng, vocab, eos, scale=float(rng.uniform(0.4, 1.2)))
    prompt = tuple(int(token) for token in rng.choice([t for t in range(vocab) if t != eos], 2))
    whole = sum((vocab - 1) ** step for step in range(steps)) + (vocab - 1) ** steps
    width = int(rng.integers(vocab, whole + 2))
    truths = [beam_search(script.rows, prompt, width, steps, 0.0, eos, variant) for variant in VARIANTS]
    if len({truth.best.tokens for truth in truths}) > 1 or min(truth.margin for truth in truths) < _CLEAR:
        return None
    return Roomy(script, prompt, width, steps, truths[0].best.tokens, _all(truths, whole), vocab)


def _all(truths: Sequence[Found], whole: int) -> frozenset[Tokens]:
    first = truths[0].sequences
    same = all(truth.sequences == first for truth in truths)
    return first if same and len(first) == whole else frozenset()


def _shown(draw: Roomy) -> Iterator[str]:
    """Mistakes that have other winners here, wherever they keep what has ended."""
    for words in OF_PLACES:
        winners = winners_of(
            draw.script.rows, draw.prompt, draw.width, draw.steps, 0.0, draw.script.eos, words
        )
        if draw.best not in winners:
            yield words


def _embedded(rng: np.random.Generator, draw: Roomy) -> Roomy:
    """The same model among more tokens, none of which is possible."""
    vocab = int(rng.integers(*_LARGE))
    names = distinct(rng, vocab, draw.script.vocab_size)

    def named(tokens: Tokens) -> Tokens:
        return tuple(names[token] for token in tokens)

    live = [token for token in range(draw.script.vocab_size) if token != draw.script.eos]
    prefixes = [draw.prompt]
    for length in range(draw.steps - 1):
        longest = len(draw.prompt) + length
        prefixes += [(*prefix, token) for prefix in prefixes if len(prefix) == longest for token in live]
    entries = {
        named(prefix): dict(zip(names, np.exp(draw.script.rows.row(prefix)).tolist(), strict=True))
        for prefix in prefixes
    }
    eos = names[draw.script.eos]
    script = certain(vocab, eos, entries, {eos: 1.0})
    return Roomy(
        script, named(draw.prompt), draw.width, draw.steps, named(draw.best), frozenset(), draw.possible
    )


def hold_few_tokens(seed: int, found: Findings, search: Search) -> tuple[str, str, list[Answer]]:
    """Search them, and hold the winners.

    Args:
        seed: Of the draws.
        found: Takes the claims.
        search: The submission's.

    Returns:
        Which winner is wrong, as a clause; which sequence is missing though K has room for all; the answers.
    """
    wrong, missing, answers = _searched(seed, search)
    count = len(answers)
    found.claim(
        "best of searches of few tokens, K about V and above, where places stay free", not wrong,
        measured=f"{count - len(wrong)} of {count}", limit=f"{count} of {count}",
        note=wrong[0] if wrong else "", **search.where,
    )  # fmt: skip
    found.claim(
        "all sequences that exist come back where K has room for them", not missing,
        measured=missing[0] if missing else "yes", limit="yes", otherwise=Verdict.WARN, **search.where,
    )  # fmt: skip
    lost = (
        f"the best is missed in {len(wrong)} of {count} searches of few tokens: {wrong[0]}" if wrong else ""
    )
    left = f"K has room for all sequences, and not all come back: {missing[0]}" if missing else ""
    return lost, left, answers


def _searched(seed: int, search: Search) -> tuple[list[str], list[str], list[Answer]]:
    """Winners that are wrong, in words; sequences that are missing; the answers."""
    wrong, missing, answers = list[str](), list[str](), list[Answer]()
    for draw in roomy(seed):
        try:
            answer = search(draw.script, [draw.prompt], draw.width, draw.steps, 0.0)
        except Raised:
            # The logarithm of no probability may be one that raises; what does otherwise is for the borders.
            if draw.possible == draw.script.vocab_size:
                raise
            continue
        answers.append(answer)
        winner, eos = answer.winner(), draw.script.eos
        told = "nothing" if winner is None else written(winner.tokens, eos)
        if told != written(draw.best, eos):
            wrong.append(f"{draw}: {told} instead of {written(draw.best, eos)}")
        returned = {beam.tokens for beam in answer.beams[0]}
        short = any(len(tokens) < draw.steps and eos not in tokens for tokens in returned)
        if not short and (lost := draw.all - returned):
            longest = written(max(lost, key=len), eos)
            missing.append(f"{draw}: {len(returned)} of {len(draw.all)} that exist, {longest} is missing")
    return wrong, missing, answers
