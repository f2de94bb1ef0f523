"""Whether a width of one without penalty is argmax decoding."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.sizes import Range
from judge_tui.checks.tasks.beam_search.decodings import Decoded, decoded_as
from judge_tui.checks.tasks.beam_search.oracle import Hyp, greedy
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens, distinct, hashed, table
from judge_tui.checks.tasks.beam_search.searching import NARROW, Search, written

__all__ = ["greedy_equivalence"]

#: Vocabulary, most new tokens, and what is added to the logit of EOS: never, seldom, soon; each once large.
_DRAWS: tuple[tuple[Range, Range, float], ...] = (
    ((5, 60), (4, 10), -8.0),
    ((5, 60), (4, 10), 0.0),
    ((20, 60), (4, 10), 1.5),
    ((5, 60), (4, 10), -8.0),
    ((5, 12), (4, 10), 0.5),
    ((40, 90), (4, 10), 3.0),
    ((5, 12), (4, 10), 2.0),
    ((5, 30), (4, 10), 6.0),
    ((2000, 6000), (2, 4), -8.0),
    ((5, 30), (24, 40), -8.0),
)


@check(
    "greedy_equivalence",
    "K = 1, alpha = 0 is greedy",
    establishes="A search of width one without penalty returns the tokens of argmax decoding up to EOS.",
    roles=("search",),
    version=11,
)
def greedy_equivalence(bench: Bench, found: Findings) -> str:
    """Decode hashed models of several vocabularies, with EOS at once, late and never."""
    search = Search(bench)
    wrong: list[str] = []
    rows: list[tuple[str, ...]] = []
    error, scored, seen = 0.0, 0, list[Decoded]()
    for script, prompt, steps, truth in _draws(bench):
        answer = search(script, [prompt], 1, steps, 0.0)
        winner = answer.winner()
        told = "nothing" if winner is None else written(winner.tokens, script.eos)
        expected = written(truth.tokens, script.eos)
        seen.append(Decoded(script, prompt, steps, truth.tokens, winner.tokens if winner else ()))
        if winner is None or winner.tokens != truth.tokens:
            wrong.append(f"V = {script.vocab_size}, {steps} steps: {told} instead of {expected}")
        elif winner.score is not None and not truth.finished:
            scored += 1
            off = abs(winner.score - truth.logprob)
            error = max(error, off if off == off else float("inf"))
        rows.append((str(script.vocab_size), str(steps), expected, told))
    found.claim(
        "tokens of argmax decoding, searches", not wrong, measured=f"{len(rows) - len(wrong)} of {len(rows)}",
        limit=f"{len(rows)} of {len(rows)}", note=wrong[0] if wrong else "",
        table=(("V", "steps", "argmax", "returned"), *rows), **search.where,
    )  # fmt: skip
    exact = not scored or found.limit(
        "score of what has not ended, absolute error", error, NARROW, **search.where
    )
    if wrong:
        how = f", as where {way}" if (way := decoded_as(seen)) else ""
        return f"{len(wrong)} of {len(rows)} searches are not argmax decoding{how}: {wrong[0]}"
    if not exact:
        return f"tokens as by argmax decoding, but their scores are off by {error:.2g} (limit {NARROW:g})"
    scores = f"scores within {error:.1g}" if scored else "no score of what has not ended is returned"
    return f"argmax decoding in {len(rows)} of {len(rows)} searches, {scores}"


def _draws(bench: Bench) -> Iterator[tuple[Script, Tokens, int, Hyp]]:
    """Draws in which every argmax leads clearly, so that rounding decides nothing."""
    for number, (vocabs, lengths, bias) in enumerate(_DRAWS):
        for attempt in range(200):
            vocab, steps = bench.sizes("draw", number, attempt).shape(vocabs, lengths)
            rng = bench.rng("draw", number, attempt)
            eos = 0 if number % 4 == 3 else int(rng.integers(vocab))
            script = hashed(rng, vocab, eos, bias=bias)
            prompt = tuple(distinct(rng, vocab, int(rng.integers(1, min(6, vocab))), but=(eos,)))
            truth, margin = greedy(script.rows, prompt, steps, eos)
            if margin > 1e-2:
                yield script, prompt, steps, truth
                break
    yield _tempting(bench.rng("tempting"))


def _tempting(rng: np.random.Generator) -> tuple[Script, Tokens, int, Hyp]:
    """EOS is the second choice everywhere, and a text that took it would score higher than the greedy one."""
    vocab = int(rng.integers(40, 90))
    eos, *text = distinct(rng, vocab, 5)
    prompt = tuple(distinct(rng, vocab, 2, but=(eos, *text)))
    entries: dict[Tokens, dict[int, float]] = {}
    for length, token in enumerate(text):
        entries[(*prompt, *text[:length])] = {token: math.log(0.55), eos: math.log(0.4)}
    script = table(rng, vocab, eos, entries)
    return script, prompt, len(text), greedy(script.rows, prompt, len(text), eos)[0]
