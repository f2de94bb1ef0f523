"""Query tiles that differ from key tiles, where both are offered: the defaults, and two pairs more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Raised
from judge_tui.checks.tasks.flash_attention.own_tiles import own_tiles, takes_both
from judge_tui.checks.tasks.flash_attention_bwd.held import Figure, Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import NAMES, Gradients, Problem, posed
from judge_tui.checks.verdict import Verdict

__all__ = ["unequal"]

_PAIRS = ((4, 7), (7, 3))


def unequal(
    bench: Bench, attention: Attention, found: Findings, where: Mapping[str, Mapping[str, Any]]
) -> str:
    """Differentiate with tiles of two sizes: wrong with its own defaults fails, with others warns.

    Args:
        bench: Where they are called.
        attention: What is called.
        found: Where the figures go.
        where: Gradient → ``file`` and ``line`` of it.

    Returns:
        What is wrong, as a clause; empty where nothing is.
    """
    if attention.stated is not None:
        return ""
    bindings = [each for each in (attention.forward.binding, attention.binding) if takes_both(each)]
    if not bindings:
        return ""
    own = next((pair for each in bindings if (pair := own_tiles(bench, each))), None)
    clauses = [] if own is None else [_held(bench, attention, found, where, (own,), Verdict.FAIL)]
    clauses.append(_held(bench, attention, found, where, _PAIRS, Verdict.WARN))
    return next(filter(None, clauses), "")


def _held(
    bench: Bench,
    attention: Attention,
    found: Findings,
    where: Mapping[str, Mapping[str, Any]],
    pairs: tuple[tuple[int, int], ...],
    otherwise: Verdict,
) -> str:
    worst: Figure | None = None
    own = otherwise is Verdict.FAIL
    kind = "its own sizes of query and key tiles" if own else "query tiles of another size than key tiles"
    ledger = Ledger()
    try:
        for problem in _problems(bench, attention, pairs, ", its defaults" if own else ""):
            ledger.hold(problem, _differentiated(bench, attention, problem))
    except Raised as fault:
        if not own:
            found.note(kind, fault.message)
            return ""
        found.claim(kind, False, measured=fault.message, **attention.place)
        return fault.message
    for name in NAMES:
        figure = ledger.worst((name,))
        wrong = figure.verdict is Verdict.FAIL
        place = where[name] if wrong else {}
        found.limit(f"{name} with {kind}", figure.error, figure.most, otherwise=otherwise, **place)
        worst = worst or (figure if wrong else None)
    if worst is None:
        return ""
    return f"{worst.name} is {worst.error:.2g} off with {worst.problem.case.name}"


def _problems(
    bench: Bench, attention: Attention, pairs: tuple[tuple[int, int], ...], of: str
) -> Iterator[Problem]:
    for causal in attention.causal:
        for tile, key_tile in pairs:
            length = max(23, 2 * max(tile, key_tile) + 7)
            name = f"query tiles of {tile}, key tiles of {key_tile}{of}"
            rng = bench.rng("unequal", causal, tile, key_tile)
            problem = posed(rng, (1, 1, length, 6), tile, causal, name=name)
            yield replace(problem, case=replace(problem.case, key_tile=key_tile))


def _differentiated(bench: Bench, attention: Attention, problem: Problem) -> Gradients:
    """The gradients, the backward told the same two tiles as the forward."""
    run = attention.run(problem)
    inputs = {**attention.forward.inputs(problem.case), "dO": problem.d_out, **run.given}
    return attention.read(run, bench.call("backward", inputs))
