"""Query tiles that differ from key tiles, where both are offered: the defaults, and two pairs more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Raised
from judge_tui.checks.tasks.flash_attention_bwd.held import Figure, Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import NAMES, Gradients, Problem, posed
from judge_tui.checks.verdict import Verdict

__all__ = ["unequal"]

_PAIRS = ((4, 7), (7, 3))
#: Larger tiles of its own are left alone: three of them would take too many scores.
_LARGEST = 128


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
    bindings = [each for each in (attention.forward.binding, attention.binding) if _both(each)]
    if not bindings:
        return ""
    own = next((pair for each in bindings if (pair := _defaults(bench, each))), None)
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


def _both(binding: Binding) -> bool:
    return binding.takes("tile_size") and binding.takes("tile_k")


def _defaults(bench: Bench, binding: Binding) -> tuple[int, int] | None:
    """The query tile and the key tile that it takes when it is told none, where they differ."""
    params = list(_params(bench, binding))
    told: dict[str, Any] = {}
    arguments = next(
        (args for args in (binding.init or (), binding.args) if any(a.source == "tile_k" for a in args)), ()
    )
    for index, argument in enumerate(arguments):
        name = argument.keyword or (params[index]["name"] if index < len(params) else "")
        told[argument.source] = next((p.get("default") for p in params if p["name"] == name), None)
    tiles = told.get("tile_size"), told.get("tile_k")
    if not all(type(tile) is int and 0 < tile <= _LARGEST for tile in tiles) or tiles[0] == tiles[1]:
        return None
    return int(tiles[0] or 0), int(tiles[1] or 0)


def _params(bench: Bench, binding: Binding) -> list[Mapping[str, Any]]:
    """The parameters of what is told the tiles: the constructor, or the callable."""
    if any(argument.source == "tile_k" for argument in binding.init or ()):
        classes = bench.bindings.loaded[binding.file]["classes"]
        cls = binding.name.partition(".")[0]
        return next((list(each["params"] or ()) for each in classes if each["name"] == cls), [])
    for each in callables(bench.bindings.loaded):
        if f"{each.file}:{each.name}" == binding.target:
            return each.params
    return []
