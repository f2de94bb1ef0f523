"""Further calls that attend over a quantized cache: each is held to attention over what was fed.

A cache may be attended over by one call for prompts and by another for steps, which works on the codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.binding.solver import Search
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.finding.combinations import owner_of
from judge_tui.checks.tasks.kv.finding.signatures import matched
from judge_tui.checks.tasks.kv.quantized.coder import CacheCoder
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tolerance import relative_error
from judge_tui.checks.verdict import Verdict

__all__ = ["judge"]

Array = npt.NDArray[Any]
#: One sequence: heads, tokens, and a width that codes of groups fill.
_SHAPE = (1, 2, 9, 64)
#: How far off codes leave an answer, and what is another answer altogether.
_NEAR, _FAR = 0.3, 0.6
#: Axis orders of one query.
_ORDERS = ("HD", "BHD", "HND", "NHD", "BHND", "BNHD")
_SAFE = 1e-30


def judge(bench: Bench, found: Findings, coder: CacheCoder, told: int) -> str:
    """What is wrong with calls beside the one that is judged; empty where nothing is, or there is none.

    A call is meant that is named after attention and goes in one axis order alone; where one of its orders is
    near, it is right. An answer that no usual mistake gives warns: it may be of something else.

    Args:
        bench: Where it is judged.
        found: Gathers the evidence.
        coder: The cache, with what attends over it.
        told: Bits to make it with; 0 when it takes none.
    """
    if "attend" not in coder.bound or "append" not in coder.bound:
        return ""
    rng = bench.rng("other calls", told)
    q, k, v = (rng.standard_normal(_SHAPE).astype(np.float32) for _ in "qkv")
    truth = attention(q[:, :, -1:], k, v)
    for call in _others(bench, coder):
        answers = {
            order: out
            for order in _ORDERS
            if (out := _answer(coder, call, order, told, (q, k, v))) is not None
        }
        errors = {order: float(relative_error(out, truth)) for order, out in answers.items()}
        if not errors:
            continue
        order = min(errors, key=lambda each: errors[each])
        quantity = f"{coder.name}: {call.name} against attention over what was fed, relative error"
        where: dict[str, Any] = {"file": call.file, "line": call.line or None}
        if errors[order] <= _NEAR:
            found.note(quantity, errors[order], limit=_NEAR)
        elif len(errors) == 1 and not errors[order] <= _FAR:
            why = _mistake(answers[order], q[:, :, -1:], k, v)
            otherwise = Verdict.FAIL if why else Verdict.WARN
            found.limit(quantity, errors[order], _FAR, otherwise=otherwise, **where)
            return f"{call.name} is off by {errors[order]:.2g} from attention over what was fed{why}"
    return ""


def _others(bench: Bench, coder: CacheCoder) -> Iterator[Binding]:
    """Calls named after attention that are handed the cache, or are methods of it, but for those bound."""
    search = Search(bench.worker, bench.worker.loaded)
    known = {binding.target for binding in (*coder.bound.values(), *bench.bindings.found.values())}
    owner = owner_of(search, {"create": coder.bound["create"]})
    for binding in matched(search, roles.BY_NAME["attend"], owner=owner, stateful=True) if owner else ():
        own = binding.name.rpartition(".")[2].lower()
        if binding.target not in known and ("attend" in own or "attention" in own) and binding.init is None:
            yield replace(binding, role="attend")


def _answer(
    coder: CacheCoder, call: Binding, order: str, told: int, stream: tuple[Array, Array, Array]
) -> Array | None:
    """(1, H, 1, D) of the last query; ``None`` where it does not go in this axis order."""
    bound = {**coder.bound, "attend": replace(call, layout=order)}
    for name in ("step", "read"):
        bound.pop(name, None)
    try:
        cached = replace(coder, bound=bound).opened(_SHAPE, told, attends=True)
        cached.mode = "read"
        q, k, v = stream
        cached.feed(q, k, v, whole=False)
        cached.mode = "attend"
        return cached.attend(q[:, :, -1:], None, np.ones(1, np.int64))
    except Fault:
        return None


def _mistake(out: Array, q: Array, k: Array, v: Array) -> str:
    """What codes without their scales would give, where that is the answer; the end of a sentence."""
    for levels in (127, 128, 7, 8):
        keys, values = (np.abs(x).max(-1, keepdims=True) / levels + _SAFE for x in (k, v))
        tried = {
            "its values are codes, their scales are not multiplied in": attention(q, k, v / values),
            "its keys are codes, their scales are not multiplied in": attention(q, k / keys, v),
            "keys and values are codes, their scales are not multiplied in": attention(
                q, k / keys, v / values
            ),
        }
        for words, wrong in tried.items():
            if float(relative_error(out, wrong)) <= _NEAR:
                return f": {words}"
    return ""
