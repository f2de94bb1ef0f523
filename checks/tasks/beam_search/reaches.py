"""Searches whose whole answer is settled: no beam ends, so that every right way to search keeps the same K.

One axis at a time is larger than anything else that is drawn: code takes other paths there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.sizes import Range
from judge_tui.checks.tasks.beam_search.oracle import VARIANTS, Found, beam_search
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens, distinct, hashed
from judge_tui.checks.tasks.beam_search.searching import NARROW, Answer, Scores, Search, written

__all__ = ["sets"]

#: Added to the logit of EOS: it is in no reach of a search then.
_NEVER = -14.0
#: What decides is this far apart, also for sums in float32.
_CLEAR = 3e-4
_MOST = 40


@dataclass(frozen=True, slots=True)
class _Reach:
    """Ranges of V, K, most new tokens and a prompt's length, how many prompts, and ends of alpha."""

    name: str
    vocab: Range = (17, 60)
    width: Range = (2, 5)
    steps: Range = (3, 6)
    length: Range = (2, 9)
    count: int = 1
    alpha: tuple[float, float] = (0.0, 1.0)


_REACHES = (
    _Reach("small"),
    _Reach("small, with repeated tokens in the prompt", vocab=(17, 30), length=(9, 16)),
    _Reach("a penalty past 1", alpha=(1.2, 2.5)),
    _Reach("a large vocabulary", vocab=(33_000, 60_000), width=(2, 3), steps=(2, 3)),
    _Reach("wide", vocab=(70, 110), width=(30, 64), steps=(2, 3)),
    _Reach("many steps", steps=(20, 36), width=(2, 3)),
    _Reach("a long prompt", length=(70, 130)),
    _Reach("many prompts", count=40, steps=(2, 3), width=(2, 3)),
)


def sets(bench: Bench, search: Search) -> tuple[list[str], int]:
    """Hold the returned sets, and every score in them, against what each right search returns.

    Args:
        bench: Draws them.
        search: The submission's.

    Returns:
        What is wrong, in words, and how many sets were held.
    """
    wrong: list[str] = []
    held = 0
    for number, reach in enumerate(_REACHES):
        for attempt in range(_MOST):
            sizes, rng = bench.sizes("reach", number, attempt), bench.rng("reach", number, attempt)
            vocab, width, steps = sizes.shape(reach.vocab, reach.width, reach.steps)
            alpha, eos = float(rng.uniform(*reach.alpha)), int(rng.integers(vocab))
            script = hashed(rng, vocab, eos, bias=_NEVER)
            prompts = [
                _prompt(rng, script, sizes.between(*reach.length)) for _prompt_no in range(reach.count)
            ]
            truths = [_settled(script, prompt, width, steps, alpha) for prompt in prompts]
            kept = [pair for pair in zip(prompts, truths, strict=True) if pair[1] is not None]
            if len(kept) < max(1, reach.count // 2):
                continue
            answer = search(script, [prompt for prompt, _truth in kept], width, steps, alpha)
            told = (_amiss(search, answer, at, truth) for at, (_prompt_, truth) in enumerate(kept))
            clause = next(filter(None, told), "")
            if clause:
                wrong.append(
                    f"{reach.name}, V = {vocab}, K = {width}, {steps} steps, alpha {alpha:.2g}: {clause}"
                )
            held += 1
            break
    return wrong, held


def _prompt(rng: np.random.Generator, script: Script, length: int) -> Tokens:
    """Tokens that may come again, EOS not among them."""
    free = distinct(rng, script.vocab_size, min(script.vocab_size - 1, 2 * length), but=(script.eos,))
    return tuple(int(token) for token in rng.choice(free, length))


def _settled(script: Script, prompt: Tokens, width: int, steps: int, alpha: float) -> Found | None:
    """What all right ways return, where they agree and rounding decides nothing."""
    first, *others = (
        beam_search(script.rows, prompt, width, steps, alpha, script.eos, variant) for variant in VARIANTS
    )
    same = all(other.sequences == first.sequences for other in others)
    ended = any(script.eos in hyp.tokens for hyp in first.hyps)
    return first if same and not ended and first.margin > _CLEAR else None


def _amiss(search: Search, answer: Answer, number: int, truth: Found | None) -> str:
    assert truth is not None
    beams, eos = answer.beams[number], answer.script.eos
    returned = {beam.tokens for beam in beams}
    where = f"prompt {number}: " if len(answer.prompts) > 1 else ""
    if returned != truth.sequences:
        lost = [hyp.tokens for hyp in truth.hyps if hyp.tokens not in returned]
        told = written(lost[0] if lost else next(iter(returned - truth.sequences)), eos)
        return f"{where}{told} is {'missing' if lost else 'returned'}"
    if len(beams) != len(truth.hyps):
        return f"{where}{len(beams)} beams are returned"
    scores = Scores(search)
    scores.add(answer, number)
    return f"{where}{scores.worst}" if scores.error > NARROW else ""
