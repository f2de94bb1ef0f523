"""What a forward does beside the contract: an L that it returns, and key tiles of its own choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.results import by_name
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array, logsumexp
from judge_tui.checks.tasks.flash_attention.rows import Rows
from judge_tui.checks.verdict import Verdict

__all__ = ["own_key_tile", "returned_l"]

#: Of the float32 in which an L of float64 scores may be kept, with room for a sum.
_LIMIT = 6e-6


def returned_l(bench: Bench, forward: Forward, found: Findings) -> str:
    """Hold an L beside O that goes by its name to m + log l, row by row.

    Returns:
        What is wrong with it, as a clause; empty where nothing is, or where none is returned.
    """
    # with a backward beside it, L is what ``logsumexp`` is about
    if "L" not in forward.binding.returns or forward.relaid or "backward" in bench.contract.by_name:
        return ""
    worst, cause = 0.0, ""
    for causal in forward.causal:
        case = drawn(bench.rng("L", causal), (2, 2, 21, 6), 5, causal, spread=4.0, name="L beside O")
        _out, returned = forward.returned(case)
        role = bench.contract.by_name["forward"]
        open_ = replace(forward.binding, returns={})
        if "L" not in (by_name(bench.submission, role, open_, returned.result.tree) or {}):
            return ""
        try:
            told = returned.array("L", case.q.shape[:3])
        except BadResult as fault:
            found.note("L beside O", fault.message)
            return ""
        error = _error(told, logsumexp(case.q, case.k, causal))
        if not error <= worst:
            worst, cause = error, _cause(told, case)
    if found.limit("L beside O, error over 1 + |L|, worst row", worst, _LIMIT, note=cause, **forward.place):
        return ""
    return f"the L beside O is {worst:.2g} off m + log l{cause and f': {cause}'}"


def _error(told: Array, truth: Array) -> float:
    with np.errstate(invalid="ignore"):
        error = float(np.max(np.abs(told - truth) / (1 + np.abs(truth))))
    return error if error == error else np.inf


def _cause(told: Array, case: Case) -> str:
    """What it is instead, where it is something known."""
    truth, top = logsumexp(case.q, case.k, case.causal), logsumexp(case.q, case.k, case.causal, sharp=True)
    known = {
        "log l, without the row's maximum": truth - top,
        "in base 2": truth / np.log(2.0),
        "-L": -truth,
        "the row's maximum": top,
        "l, and not its logarithm": np.exp(truth - top),
    }
    return next((name for name, value in known.items() if _error(told, value) <= _LIMIT), "")


def own_key_tile(bench: Bench, forward: Forward, found: Findings) -> str:
    """Call a forward that has key tiles of its own choice as the contract does, without a word about them.

    Returns:
        What is wrong then, as a clause; empty where nothing is.
    """
    binding = _left_alone(bench, forward.binding)
    if binding is None or forward.said is not None:
        return ""
    rows = Rows()
    for causal in forward.causal:
        for tile, length in ((4, 23), (8, 29), (16, 41)):
            name = f"tiles of {tile}, key tiles of its own choice"
            case = drawn(bench.rng("own key tile", causal, tile), (1, 2, length, 6), tile, causal, name=name)
            answer = invoke(bench.worker, binding, forward.inputs(case), budget=bench.left)
            rows.hold(case, answer.array("O", case.q.shape))
    place = forward.place if rows.worst.verdict is Verdict.FAIL else {}
    worst = rows.decide(found, "O with key tiles of its own choice", strict=False, **place)
    return "" if worst.verdict is not Verdict.FAIL else f"O is {worst.error:.2g} off with {worst.case.name}"


def _left_alone(bench: Bench, binding: Binding) -> Binding | None:
    """The same call without its key tile, where that has a default and the query tile stays."""
    if not (binding.takes("tile_size") and binding.takes("tile_k")) or binding.origin != "found":
        return None
    item = next((c for c in callables(bench.bindings.loaded) if f"{c.file}:{c.name}" == binding.target), None)
    params = [] if item is None else item.params
    index = next((i for i, a in enumerate(binding.args) if a.source == "tile_k"), None)
    if index is None:
        return None
    told = binding.args[index]
    name = told.keyword or (params[index]["name"] if index < len(params) else "")
    if not any(p["name"] == name and "default" in p for p in params):
        return None
    # what stands behind it goes by its name
    behind = [
        a if a.keyword else replace(a, keyword=params[at]["name"])
        for at, a in enumerate(binding.args[index + 1 :], index + 1)
    ]
    return replace(binding, args=(*binding.args[:index], *behind))
