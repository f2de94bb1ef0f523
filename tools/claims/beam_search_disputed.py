"""Beam search: where the analyses contradict themselves."""

from __future__ import annotations

from tools.claims.beam_search import TASK
from tools.claims.claim import Finding, Section, settled
from tools.claims.finished_beams import MODELS, STEPS, searched, searches
from tools.claims.programs import program
from tools.claims.runs import Runs

__all__ = ["CONTRADICTIONS"]

CONTRADICTIONS = Section("beam-x", "Beam search: contradictions", "Settled")


@CONTRADICTIONS.claim(
    "X34",
    "MiniMax",
    "the removal bug is declared, withdrawn, and called cosmetic",
    "eos_retention, experiment",
)
def _(runs: Runs) -> Finding:
    rows = {(K, alpha): searched(K, alpha) for K, alpha in searches()}
    one = [rows[1, alpha][0] for alpha in (0.0, 1.0)]
    sets = [row[0] for key, row in rows.items() if key[0] > 1]
    winners = [row[1] for key, row in rows.items() if key[0] > 1]
    verdict = runs.verdict(TASK, "minimax-m2.7", "eos_retention")
    found = (
        f"{MODELS} random models, 6 tokens, {STEPS} steps, K = 2 and 3: the set differs for {min(sets)} … "
        f"{max(sets)}, the winner for {min(winners)} … {max(winners)}; at K = 1 never; check: {verdict}"
    )
    return settled(
        max(one) == 0 and min(sets) > 40 and max(winners) < 20,
        found,
        "not the bug that it was called, not a pool either, and hardly ever another winner",
    )


@CONTRADICTIONS.claim("X35", "all", "the EOS beam at −3.0 meets −4.0, −5.0 or −6.0")
def _(runs: Runs) -> Finding:
    lengths = {}
    for total in (-4.0, -5.0, -6.0):
        lengths[total] = next(n for n in range(1, 20) if total / n**0.6 > -3.0)
    found = "at alpha 0.6 " + ", ".join(f"{t:.1f} beats it from length {n}" for t, n in lengths.items())
    return settled(
        list(lengths.values()) == [2, 3, 4],
        found,
        "three steps of one schedule; without alpha and length they say little",
    )


@CONTRADICTIONS.claim("X36", "Qwen3-6", "its test 3b shows the length penalty at work", "length_penalty")
def _(runs: Runs) -> Finding:
    beam = program("qwen36", TASK, "beam_search").Beam
    scores = {
        a: [beam([1] * n, s).length_penalized_score(a) for n, s in ((2, -1.0), (1, -2.0), (2, -2.5))]
        for a in (0.0, 0.6)
    }
    same = all(row[0] > row[1] for row in scores.values())
    flips = (scores[0.0][2] > scores[0.0][1], scores[0.6][2] > scores[0.6][1])
    found = (
        "−1.0 at 2 beats −2.0 at 1 for alpha 0 and 0.6 alike; −2.5 at 2 against −2.0 at 1 "
        f"{'flips' if flips == (False, True) else 'does not flip'} between them"
    )
    return settled(same and flips == (False, True), found, "it passes without a penalty as well")
