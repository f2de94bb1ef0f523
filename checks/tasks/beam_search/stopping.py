"""Whether a search goes on while a live beam can still win, by what length^alpha will make of its sum."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.beam_search.oracle import VARIANTS, beam_search
from judge_tui.checks.tasks.beam_search.places import penalty_place
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens, distinct, table, wide
from judge_tui.checks.tasks.beam_search.searching import Search, written
from judge_tui.checks.verdict import Verdict

__all__ = ["behind", "fallen", "hold_stopping"]

_TABLES, _FALLEN = 4, 3
_WIDTH = 2
_QUANTITY = "a search goes on while a beam that is behind can still win by its length, searches"


def hold_stopping(bench: Bench, found: Findings, search: Search) -> str:
    """Search tables on which as many as are asked for are finished, and a beam that is behind wins later.

    All ways of searching that the challenge allows find it. A search that stops earlier bounds what a beam
    can reach by what it scores now, as some libraries do on purpose: ambiguous.

    Returns:
        What is missed, as a clause; empty where nothing is.
    """
    missed: list[str] = []
    early, count = True, 0
    tables = itertools.chain(behind(bench.rng("stopping")), fallen(bench.rng("stopping", "fallen")))
    for script, prompt, steps, alpha in tables:
        best = {
            beam_search(script.rows, prompt, _WIDTH, steps, alpha, script.eos, variant).best.tokens
            for variant in VARIANTS
        }
        if len(best) > 1:
            continue
        [right] = best
        winner = search(script, [prompt], _WIDTH, steps, alpha).winner()
        count += 1
        if winner is None or winner.tokens != right:
            told = "nothing" if winner is None else written(winner.tokens, script.eos)
            missed.append(f"{told} instead of {written(right, script.eos)} at alpha {alpha:.3g}")
            early = early and winner is not None and len(winner.tokens) < len(right) - 1
    found.claim(
        _QUANTITY, not missed, measured=f"{count - len(missed)} of {count}", limit=f"{count} of {count}",
        otherwise=Verdict.AMBIGUOUS if early else Verdict.FAIL, note=missed[0] if missed else "",
        **penalty_place(search),
    )  # fmt: skip
    if not missed:
        return ""
    why = "stops while a beam that is behind can still win by its length" if early else "misses the winner"
    return f"it {why} in {len(missed)} of {count} searches: {missed[0]}"


def behind(rng: np.random.Generator) -> Iterator[tuple[Script, Tokens, int, float]]:
    """EOS at once and behind a second token; a third goes on ever more surely, far behind at first.

    Yields:
        The model, a prompt, most new tokens and alpha. After any other prompt no token is likelier.
    """
    for _ in range(_TABLES):
        vocab = wide(rng)
        eos, going, ending, *others = distinct(rng, vocab, 8)
        prompt = tuple(others[:2])
        first, behind = float(rng.uniform(-0.75, -0.65)), float(rng.uniform(-1.3, -1.15))
        entries: dict[Tokens, dict[int, float]] = {
            prompt: {eos: first, going: behind, ending: float(rng.uniform(-2.0, -1.9))},
            (*prompt, ending): {eos: -0.05},
            (*prompt, going): {others[2]: -1.0},
        }
        text, steps = (*prompt, going, others[2]), int(rng.integers(7, 10))
        for _step in range(steps - 3):
            entries[text] = {others[3]: -0.01}
            text = (*text, others[3])
        entries[text] = {eos: -0.01}
        yield table(rng, vocab, eos, entries), prompt, steps, float(rng.uniform(0.95, 1.1))


def fallen(rng: np.random.Generator) -> Iterator[tuple[Script, Tokens, int, float]]:
    """Two end early; the beam that outlived both then falls behind them, and goes on ever more surely.

    As many as are asked for are finished then also where those that end take the places of live ones. What
    the beam has scores less than the worst of them, at its next length as well, and more at its longest.

    Yields:
        The model, a prompt, most new tokens and alpha. After any other prompt no token is likelier.
    """
    for _ in range(_FALLEN):
        vocab = wide(rng)
        eos, going, on, low, sure, *prompt = distinct(rng, vocab, 7)
        text, steps = (*prompt, going, on, low), int(rng.integers(8, 11))
        first, second, third = rng.uniform((-0.72, -0.92, -2.85), (-0.66, -0.88, -2.75)).tolist()
        entries: dict[Tokens, dict[int, float]] = {
            (*prompt,): {eos: first, going: float(rng.uniform(-1.15, -1.05))},
            (*prompt, going): {on: float(rng.uniform(-0.62, -0.58)), eos: second},
            (*prompt, going, on): {low: third},
        }
        for step in range(steps - 3):
            entries[text] = {eos if step == steps - 4 else sure: -0.01}
            text = (*text, sure)
        yield table(rng, vocab, eos, entries), tuple(prompt), steps, float(rng.uniform(0.95, 1.1))
