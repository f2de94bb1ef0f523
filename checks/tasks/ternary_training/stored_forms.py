"""What a layer becomes for use: frozen, packed or exported, it has to multiply by the same projected weights.

``layer.freeze()`` may turn the layer itself, and ``layer.export()`` may give another object that answers in
its place. Codes that are packed in one way and unpacked in another show there, as do scales that are lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Fault
from judge_tui.checks.tasks.ternary_training.causes import cause
from judge_tui.checks.tasks.ternary_training.draws import Draw, mixed
from judge_tui.checks.tasks.ternary_training.explained import explained
from judge_tui.checks.tasks.ternary_training.layer import Layer, Run
from judge_tui.checks.tasks.ternary_training.levels import LIMIT, Answer, Rule, settled
from judge_tui.checks.tasks.ternary_training.roles import GROUP

__all__ = ["STORED", "hold_stored_forms"]

Array = npt.NDArray[np.float64]

STORED = "weights of a form for use"
_RIGHT = "the projected weights"
_MAKES = re.compile(
    r"_*(freeze|pack|export|compress|compact|deploy|finali[sz]e|bake|seal|"
    r"(to|as|for|make|get|build|convert(_to)?)_(packed|inference|deploy(ment)?|int\d|ternary|codes|compact|frozen|"
    r"export(ed)?|quanti[sz]ed))(_(weights?|layer|params?|kernel|codes|model))?"
)
#: Norm of a difference over that of the weights, up to which they are the same ones in a lower precision.
_SAME = 0.02
#: Seconds for one call that stores a small matrix.
_SECONDS = 5.0
_MOST = 3


def hold_stored_forms(bench: Bench, found: Findings, layer: Layer, out: int, rule: Rule) -> str:
    """Hold what methods of a layer make of it for use against the weights that it multiplied by before.

    Args:
        bench: Where it is called.
        found: What is found.
        layer: The layer.
        out: How many outputs leave it no ragged group.
        rule: How it projects.

    Returns:
        What is wrong, as a clause; empty when nothing is.
    """
    weight = mixed(bench.rng("stored"), (out, 2 * GROUP))
    for method, line in _methods(layer):
        try:
            run = layer.forward(weight, np.eye(2 * GROUP)[:4])
            if run.returned.instance is None:
                return ""
            usual = layer.effective(weight, on=run)
            forms = list(_forms(bench, layer, run, method))
        except Fault as fault:
            found.note(f"{STORED}, {method}()", "not tried", note=fault.message)
            continue
        for words, made in forms:
            fine = _off(made, usual) <= _SAME
            told = "" if fine else _told(weight, made, rule, layer.transposed)
            found.claim(
                f"{STORED}, {method}()", fine, measured=told or _RIGHT, limit=_RIGHT,
                note=words, file=layer.binding.file, line=line,
            )  # fmt: skip
            if not fine:
                return f"{words} it multiplies by {told}"
    return ""


def _methods(layer: Layer) -> Iterator[tuple[str, int]]:
    """Methods of the layer's class by such a name that need no arguments, with their lines."""
    owner = layer.binding.name.rpartition(".")[0]
    named = [
        (item.name.rpartition(".")[2], item.line)
        for item in callables(layer.bench.bindings.loaded)
        if item.owner is not None
        and (item.file, item.owner["name"]) == (layer.binding.file, owner)
        and all("default" in param for param in item.params)
    ]
    yield from [each for each in named if _MAKES.fullmatch(each[0])][:_MOST]


def _forms(bench: Bench, layer: Layer, run: Run, method: str) -> Iterator[tuple[str, Array]]:
    """What answers behind the call of a method, in words, and what it multiplies by.

    Raises:
        Fault: The method raised, hung or died, or the layer does not answer any more.
    """
    worker, instance = run.returned.worker, run.returned.instance
    assert instance is not None
    given = worker.call(instance, method=method, budget=min(_SECONDS, bench.left))
    forward = layer.binding.name.rpartition(".")[2]
    kind = worker.describe(given.handle)
    if kind.get("kind") == "object":
        other = replace(run, returned=replace(run.returned, instance=given.handle))
        # it may answer by another call, if at all
        with suppress(Fault):
            yield f"in the form that {method}() gives, by its {forward}(),", _effective(layer, run, other)
    yield f"behind {method}()", _effective(layer, run, run)


def _effective(layer: Layer, run: Run, on: Run) -> Array:
    """What an object multiplies by; it may give its answer without a cache."""
    try:
        return layer.effective(run.weight, on=on)
    except BadResult:
        return layer.alone().effective(run.weight, on=on)


def _told(weight: Array, made: Array, rule: Rule, transposed: bool) -> str:
    """What it multiplies by in place of the projected weights."""
    if _off(made, weight) <= _SAME:
        return "the latent weights"
    answers = [Answer(Draw("stored", weight), made)]
    if settled(answers, transposed)[1][0] > LIMIT:
        why = cause(answers, transposed)
    else:
        wrong = rule.misplaced(weight, made, transposed)
        why = explained([(weight, made)], rule.grouping, transposed)
        why = why or f"{wrong} of {made.size} are at other levels, of their right scale"
    return f"others than the projected weights{f': {why}' if why else ''}"


def _off(one: Array, other: Array) -> float:
    """Norm of the difference over that of the other; infinite for NaN."""
    off = float(np.linalg.norm(one - other) / max(float(np.linalg.norm(other)), 1e-300))
    return off if np.isfinite(off) else float("inf")
