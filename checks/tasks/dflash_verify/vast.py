"""Draws from a large vocabulary in which every token is unlikely, so that sums hold many small shares."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.dflash_verify.drafting import prompt_of
from judge_tui.checks.tasks.dflash_verify.scripts import hashed
from judge_tui.checks.tasks.dflash_verify.tails import binomial_tail
from judge_tui.checks.tasks.dflash_verify.trees import Tree
from judge_tui.checks.tasks.dflash_verify.verifying import Verification

__all__ = ["hold_vast"]

#: V, draws of it, the fewest that say something, and seconds for all of them.
_VOCAB, _DRAWS, _FEWEST, _SECONDS = (6000, 9000), 80, 50, 6.0
#: How far logits are apart: no token is much likelier than another.
_SPREAD = 0.1
#: That a right verifier is failed, over all that is looked at.
_FALSE_ALARM = 1e-7


def hold_vast(bench: Bench, found: Findings, verify: Verification) -> str:
    """Hold which parts of a large vocabulary new tokens come of, at temperature 1.

    Args:
        bench: Draws the target.
        found: Is told.
        verify: The verifier, which takes a temperature.

    Returns:
        What is wrong, as a clause; empty where nothing is, or it is too slow for enough draws.
    """
    rng = bench.rng("vast")
    vocab = bench.sizes("vast").between(*_VOCAB)
    prompt, script = prompt_of(rng, vocab, 3), hashed(rng, vocab, _SPREAD)
    row = script.rows.row(prompt)
    truth = np.exp(row - row.max())
    truth /= truth.sum()
    # a draft that is hardly ever accepted, so that the new token is nearly always one of all the others
    tree = Tree((int(np.argmin(truth)),), (-1,))
    drawn: list[int] = []
    begun = monotonic()
    for seed in rng.integers(1, 2**31, _DRAWS).tolist():
        if monotonic() - begun > _SECONDS:
            break
        answer = verify.answer(script, prompt, tree, temperature=1.0, seed=seed, budget=10.0)
        drawn += [int(answer.output[0])] if answer.output else []
    if len(drawn) < _FEWEST:
        return ""
    parts = list(_parts(truth))
    for words, part, why in parts:
        share, count = float(truth[part].sum()), int(part[drawn].sum())
        tail = binomial_tail(count, len(drawn), share)
        quantity = f"temperature 1, V = {vocab}: {words}, {len(drawn)} draws"
        right = found.claim(
            f"{quantity}, least probability of a count so far off",
            tail >= _FALSE_ALARM / len(parts), measured=tail, limit=_FALSE_ALARM / len(parts), **verify.where,
        )  # fmt: skip
        if not right:
            few = "never come" if not count else f"come in {count / len(drawn):.0%} of {len(drawn)} draws"
            whole = f"of a vocabulary of {vocab} in which every token is unlikely"
            return f"{whole}, {words} {few} where the target says {share:.0%}, {why}"
    return ""


def _parts(truth: npt.NDArray[Any]) -> Iterator[tuple[str, npt.NDArray[np.bool_], str]]:
    """Parts of a vocabulary, and what it is as where one hardly comes, or comes too often."""
    ids, rank = np.arange(len(truth)), np.argsort(np.argsort(-truth, kind="stable"), kind="stable")
    sums = "as where the probabilities are added up in a narrow type, so that small ones are lost"
    cut = "as where all but the likeliest are cut off"
    half = len(truth) // 2
    yield f"ids from {half} on", ids >= half, sums
    yield f"ids from {half + half // 2} on", ids >= half + half // 2, sums
    yield "the less likely half of the tokens", rank >= half, cut
    yield "odd ids", ids % 2 == 1, "as where ids are rounded"
