"""Finding attention over q, k and v in which query heads share heads of keys and values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.binding.candidates import callables
from judge_tui.checks.binding.signatures import arguments
from judge_tui.checks.binding.solver import RIGHT, Family, Option, Search, Trial, trial
from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import invoke
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.contract import Param, Return, Role
from judge_tui.checks.faults import BadResult
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.tasks.kv.faces.answers import part
from judge_tui.checks.tasks.kv.faces.axis_orders import JOINED, fits, from_wire, to_wire, wire_shape
from judge_tui.checks.tasks.kv.finding.signatures import constructors
from judge_tui.checks.tasks.kv.finding.trials import BUDGET
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.reference import attention, causal_rows
from judge_tui.checks.tolerance import relative_error

__all__ = ["ROLE", "SPOKEN", "Heads", "called", "find", "mqa_only"]

Array = npt.NDArray[Any]
#: What speaks of grouped heads in names and source.
SPOKEN = re.compile(
    r"gqa|mqa|grouped_?(query|attention|head|multi)|multi_?query|kv_?heads?\b|key_value_heads|n_?rep\b|"
    r"repeat_?kv|query_?groups|heads_per_(kv|group)|group_?size",
    re.I,
)
_NAMES = re.compile(r"gqa|mqa|grouped|multi_?query|attention|attn|sdpa|mha|attend", re.I)
_ASIDE = re.compile(
    r"test|demo|bench|naive|verify|compare|memory|bytes|flops|quant|page|chunk|slid|window|mask(?!ed)|weights|"
    r"rope|linear|sparse|alibi",
    re.I,
)
_ONE = re.compile(r"mqa|multi_?query", re.I)
_BY_NAME = {p.name: p for role in roles.ROLES for p in role.params}
_GROUP = Param(
    "group", "int", ("group_size", "n_rep", "num_rep", "heads_per_group", "heads_per_kv", "q_per_kv",
                     "queries_per_kv", "num_key_value_groups", "kv_repeat", "repeats", "rep"), required=False,
)  # fmt: skip
_GROUPS = Param(
    "groups", "int", ("num_groups", "n_groups", "kv_groups", "num_kv_groups", "num_query_groups", "g"),
    required=False,
)  # fmt: skip
_KV_HEADS = replace(
    next(p for p in roles.SIZES if p.name == "kv_heads"),
    aliases=("num_kv_heads", "n_kv_heads", "n_kv_head", "kvh", "num_key_value_heads", "n_kv", "h_kv", "hkv",
             "num_heads_kv", "n_heads_kv", "nkv"), required=False,
)  # fmt: skip
_SIZES = (
    *(p for p in roles.SIZES if p.name in ("batch", "heads", "max_len", "head_dim", "embed")),
    _KV_HEADS, _GROUP, _GROUPS,
)  # fmt: skip
_HEADS = replace(
    next(p for p in roles.SIZES if p.name == "heads"),
    aliases=("num_heads", "n_heads", "n_head", "h", "nheads", "num_q_heads", "n_q_heads", "q_heads", "hq"),
    required=False,
)
#: Attention over q, k and v with fewer heads of keys and values.
ROLE = Role(
    "grouped",
    (_BY_NAME["q"], _BY_NAME["k"], _BY_NAME["v"], _HEADS, _KV_HEADS, _GROUP, _GROUPS,
     _BY_NAME["causal"], _BY_NAME["scale"]),
    (Return("out", "array", ("output", "o", "attn", "attn_out", "attention", "context", "y", "result")),),
    # The generic purity check knows neither its heads nor its axis order.
    ("gqa", "attention"), required=False, pure=False, strict=True,
)  # fmt: skip
_LAYOUTS = ("BHND", "BNHD", "HND", "NHD", "BHD", "HD")
_MOST = 12


@dataclass(frozen=True, slots=True)
class Heads:
    """A shape of grouped attention.

    Attributes:
        queries: Query heads.
        shared: Heads of keys and values; divides ``queries``.
        width: Of a head.
        tokens: Keys at most.
        why: What they are about, as a clause; empty where they are drawn.
    """

    queries: int
    shared: int
    width: int = 8
    tokens: int = 16
    why: str = ""

    def __str__(self) -> str:
        return f"{self.queries} query heads over {self.shared}" + (f", {self.why}" if self.why else "")

    def inputs(self) -> dict[str, Any]:
        """By canonical name; ``groups`` in its two meanings is settled by the binding."""
        return {
            "heads": self.queries, "kv_heads": self.shared, "group": self.queries // self.shared,
            "groups": self.shared, "head_dim": self.width,
            "scale": self.width**-0.5, "embed": self.width * self.queries, "batch": 2,
            "max_len": self.tokens,
        }  # fmt: skip


def mqa_only(binding: Binding) -> bool:
    """Whether a callable is for one shared head alone, by its name."""
    return bool(_ONE.search(binding.name))


def find(search: Search) -> None:
    """Bind ``grouped``: attention that is right with shared heads, else one that claims them."""
    search.bind(_FAMILY)


def _claims(binding: Binding) -> bool:
    """Whether it says that heads are shared: by its name or by a parameter."""
    takes = any(binding.takes(name) for name in ("kv_heads", "group", "groups"))
    return takes or bool(SPOKEN.search(binding.name))


def _options(search: Search) -> Iterator[Option]:
    made = constructors(search.loaded)
    listed = []
    for item in callables(search.loaded):
        own = item.name.rpartition(".")[2]
        cls = str(item.owner["name"]) if item.owner else ""
        if item.file == ADAPTER or (own.startswith("_") and own != "__call__"):
            continue
        if not _NAMES.search(item.name) or _ASIDE.search(item.name):
            continue
        told = arguments(item.params, ROLE)
        if told is None:
            continue
        binding = Binding("grouped", item.file, item.name, told[0], {}, why="its name and its parameters",
                          line=item.line)  # fmt: skip
        if cls:
            init = arguments(made.get((item.file, cls), ()), replace(ROLE, params=_SIZES))
            if init is None or (item.file, cls) not in made:
                continue
            binding = replace(binding, init=init[0])
        listed.append(binding)
    yield from ({"grouped": binding} for binding in sorted(listed, key=lambda each: not _claims(each)))


def _readings(search: Search, option: Option) -> Iterator[Option]:
    """Axis orders, and the two meanings of a number of groups: how many there are, or how many are in one."""
    own = option["grouped"]
    for meant in (own, own.handed(groups="group")) if own.takes("groups") else (own,):
        for layout in (own.layout,) if own.layout else _LAYOUTS:
            yield {"grouped": replace(meant, layout=layout)}


def called(
    worker: Worker,
    binding: Binding,
    heads: Heads,
    q: Array,
    k: Array,
    v: Array,
    *,
    causal: bool,
    budget: float,
) -> Array:
    """Call it.

    Args:
        worker: Where the submission is.
        binding: How it is called.
        heads: How many heads go in.
        q: (B, H, T, D); the batch goes in one by one where the axis order has none.
        k: (B, G, S, D).
        v: As k.
        causal: For a callable that can be told.
        budget: Seconds.

    Returns:
        (B, H, T, D).

    Raises:
        Fault: What it did.
    """
    layout = binding.layout
    if "B" not in layout and q.shape[0] > 1:
        rows = [
            called(worker, binding, heads, *(x[b : b + 1] for x in (q, k, v)), causal=causal, budget=budget)
            for b in range(q.shape[0])
        ]
        return np.concatenate(rows)
    inputs = {**heads.inputs(), "causal": causal, "batch": q.shape[0]}
    inputs.update({"q": to_wire(q, layout), "k": _keys(k, layout), "v": _keys(v, layout)})
    returned = invoke(worker, binding, inputs, budget=budget, wired=True)
    handle = part(returned, ROLE, "out", (len(layout), len(layout) - 1))
    if handle is None:
        raise BadResult(f"{binding.target} gives no output")
    told = tuple(worker.describe(handle).get("shape", ()))
    for other in (layout, *JOINED):
        if told == wire_shape(q.shape, other) and fits(other, q.shape[0], q.shape[2]):
            layout = other
            break
    return from_wire(worker.fetch(handle, wire_shape(q.shape, layout)), q.shape, layout)


def _keys(x: Array, layout: str) -> Array:
    """Keys and values have a token axis even where the single query has none."""
    return to_wire(x, layout if "N" in layout else layout.replace("H", "HN"))


@trial
def _tried(search: Search, option: Option) -> Trial | float:
    """One query over seven keys, and seven over seven; 8 heads over 2, or over 1.

    8 over 2 tells a number of groups, 2, from the heads of one, 4.
    """
    own = option["grouped"]
    heads = Heads(8, 1 if mqa_only(own) else 2)
    rng = np.random.default_rng(21)
    q, k, v = (rng.standard_normal((2, n, 7, 8)).astype(np.float32) for n in (8, heads.shared, heads.shared))
    errors, said = [], ""
    for tokens in (1, 7) if "N" in own.layout else (1,):
        last = q[:, :, 7 - tokens :]
        with search.guess() as guess:
            out = called(search.worker, own, heads, last, k, v, causal=tokens > 1, budget=BUDGET)
            truths = [attention(last, k, v, visible=m) for m in (None, causal_rows(tokens, 7))]
            each = [relative_error(out, truth) for truth in truths]
            errors.append(min(each, key=lambda error: np.inf if np.isnan(error) else error))
        said = guess.said or said
    if not errors:
        return Trial(float("inf"), said)
    right = [error for error in errors if error <= RIGHT]
    return min(right) if right else float(np.nanmax([*errors, 0.0])) or float("nan")


_FAMILY = Family(
    "grouped",
    _options,
    _tried,
    _readings,
    meant=lambda _search, option, _result: _claims(option["grouped"]),
    claims=lambda option: _claims(option["grouped"]),
    most=_MOST,
    shown=12,
)
