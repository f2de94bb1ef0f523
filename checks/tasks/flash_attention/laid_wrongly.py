"""Arrays whose order in memory changes an answer: which, how they lie, and what comes back then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from judge_tui.checks.faults import Fault
from judge_tui.checks.strides import HOWS, laid, only_laid
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.exchanged import HEADS, moved
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array, attention
from judge_tui.checks.tasks.flash_attention.rows import Held
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["laid_wrongly"]

_LAID = "in memory"
_SHAPE, _TILE = (2, 3, 7, 5), 3
_SAME = 1e-5


def laid_wrongly(forward: Forward, held: Iterable[Held]) -> str:
    """Which order of memory alone is answered wrongly, and with what, as a clause; empty where others are.

    Args:
        forward: What is called.
        held: All calls.
    """
    wrong = [each.case for each in held if each.verdict is Verdict.FAIL]
    if not wrong or not all(case.name.startswith(_LAID) for case in wrong):
        return ""
    if told := _told(forward, drawn(forward.bench.rng("laid alone"), _SHAPE, _TILE, forward.causal[0])):
        return told
    least = min(wrong, key=lambda case: case.q.size)
    at = drawn(forward.bench.rng("laid at"), least.q.shape, least.tile, least.causal)
    told = _told(forward, at)
    sizes = least.name.partition("; ")[2]
    return f"{told}; with {sizes}, alone" if told and sizes else told


def _told(forward: Forward, plain: Case) -> str:
    """Which order of memory is answered wrongly at the sizes of a case."""
    found: dict[str, list[str]] = {}
    seen = ""
    try:
        for name in "QKV":
            for how in HOWS:
                case = _with(plain, name, how)
                out = forward(case)
                if not relative_error(out, plain.truth) <= _SAME:
                    found.setdefault(name, []).append(how)
                    seen = seen or _instead(out, case, name)
    except Fault as fault:
        return f"arrays that do not lie row by row in memory: {fault.message}"
    if not found:
        return ""
    told = only_laid(found)
    return f"{told}: {seen}" if seen else told


def _with(case: Case, name: str, how: str) -> Case:
    other: dict[str, Any] = {name.lower(): laid(getattr(case, name.lower()), how)}
    return replace(case, **other)


def _instead(out: Array, case: Case, name: str) -> str:
    """What comes back, as a clause."""
    if not np.any(out):
        return "O is all zeros then, as where it is written into a copy"
    array = getattr(case, name.lower())
    read = np.asarray(array).ravel(order="K").reshape(array.shape)
    ways: list[tuple[str, Array]] = [("its numbers are taken in their order in memory", read)]
    ways += [
        (f"{words} is read for every head", moved(np.asarray(array), taken)) for words, taken in HEADS.items()
    ]
    for words, other in ways:
        arrays = {"q": case.q, "k": case.k, "v": case.v, name.lower(): other}
        if relative_error(out, attention(arrays["q"], arrays["k"], arrays["v"], case.causal)) <= _SAME:
            return words
    return ""
