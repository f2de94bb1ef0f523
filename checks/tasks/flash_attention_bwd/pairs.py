"""What is wrong in the P or dS that a gradient is made of: pairs of a row and a key, a factor, a row sum."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.sources import parsed
from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.scales import scales_that_fit
from judge_tui.checks.tasks.flash_attention.seen_keys import counts_told
from judge_tui.checks.tasks.flash_attention_bwd.by_tile import wrong_tiles
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.read_off import SAME, Made, close, read_off
from judge_tui.checks.tasks.flash_attention_bwd.reference import NAMES, Problem
from judge_tui.checks.tasks.flash_attention_bwd.row_sums import wrong_row_sum
from judge_tui.checks.tasks.flash_attention_bwd.which_l import wrong_l

__all__ = ["wrong_pairs"]

_MOST_TIMES = 9
#: The square of a row's length, over the largest, below which it says nothing of a factor.
_NOTHING = 1e-18
_SHARES = "whole shares"


def wrong_pairs(bench: Bench, attention: Attention, ledger: Ledger, name: str) -> str:
    """What is wrong with the P or dS of a gradient that was seen wrong, as a clause.

    Args:
        bench: Where it is judged.
        attention: What is called.
        ledger: All calls.
        name: ``dQ``, ``dK`` or ``dV``.

    Returns:
        Empty where it is right in what can be read, or where nothing is known.
    """
    read = read_off(bench, attention, ledger, name)
    if not read:
        return ""
    if moved := _moved(read, name):
        return f"{name} {moved}"
    what = "P" if name == "dV" else "dS"
    with np.errstate(all="ignore"):
        told = _factor(read) or _counted(read) or wrong_tiles(read, name)
        told = told or ("" if name == "dV" else wrong_row_sum(read))
    if told.startswith(_SHARES):
        return f"of what {name} adds up, {told}{_scattered(bench, attention, name)}"
    return f"in its {what}, {told}" if told else ""


def _scattered(bench: Bench, attention: Attention, name: str) -> str:
    """Where += adds to what an array of indices picks, which keeps one of several shares of one place."""
    try:
        tree = parsed(bench.submission.read_bytes(attention.binding.file))
    except (SyntaxError, OSError):
        return ""
    found = [
        (_root(node.target), node.lineno)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.AugAssign)
        and isinstance(node.op, ast.Add)
        and isinstance(node.target, ast.Subscript)
        and _picks(node.target.slice, _counters(function))
    ]
    # where gradients go by their names only what is added to this one
    named = any(root.startswith(each.lower()) for root, _ in found for each in NAMES)
    lines = [line for root, line in found if not named or root.startswith(name.lower())]
    if not lines:
        return ""
    where = f"{attention.binding.file}:{lines[0]}"
    return f"; {where} adds with += at an array of indices, which keeps one of several shares of one place"


def _root(target: ast.expr) -> str:
    """The name of what is added to, in small letters."""
    while isinstance(target, ast.Subscript):
        target = target.value
    last = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
    return str(last).lower()


def _counters(function: ast.FunctionDef) -> set[str]:
    """Names that a loop of a function counts with."""
    loops = (node.target for node in ast.walk(function) if isinstance(node, ast.For))
    return {name.id for target in loops for name in ast.walk(target) if isinstance(name, ast.Name)}


def _picks(index: ast.expr, counters: set[str]) -> bool:
    """Whether an index may be an array: a name that no loop counts with, or such a name among slices."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    names = [part for part in parts if isinstance(part, ast.Name)]
    rest = all(isinstance(part, ast.Slice | ast.Name) for part in parts)
    return rest and any(name.id not in counters for name in names)


def _moved(read: Sequence[Made], name: str) -> str:
    """Whether what rows get is right in all, but goes to other rows.

    Rows of P add up to 1 and those of dS to 0, so that sums of dV and dK tell nothing: of these each query
    has all its weights, in other places.
    """
    if name != "dQ":
        pairs = [(np.sort(each.made, axis=-1), np.sort(each.right, axis=-1)) for each in read]
    else:
        pairs = [(each.given.sum(axis=2), each.wanted.sum(axis=2)) for each in read]
    if not all(close(*pair) for pair in pairs) or all(close(each.given, each.wanted) for each in read):
        return ""
    return "adds up to what is right over all rows, but goes to other rows than it belongs to"


def _factor(read: Sequence[Made]) -> str:
    """One factor of all pairs, or one of each row, where that is all that is wrong."""
    factors = [_of_rows(each) for each in read]
    if not all(
        close(each.made, factor[..., None] * each.right) for each, factor in zip(read, factors, strict=True)
    ):
        return ""
    values = np.concatenate([factor.ravel() for factor in factors])
    if all(np.ptp(factor) <= SAME * np.abs(factor).max() for factor in factors):
        for words, given in _FACTORS.items():
            if all(
                abs(float(factor.flat[0]) - given(each.problem))
                <= SAME * max(1.0, abs(float(factor.flat[0])))
                for factor, each in zip(factors, read, strict=True)
            ):
                return f"everything is {words}"
        if np.ptp(values) <= SAME * np.abs(values).max():
            return f"everything is {values[0]:.3g} times what it should be"
        calls = [float(factor.flat[0]) for factor in factors]
        sizes = [each.problem.sizes | {"T": each.problem.tile} for each in read]
        if len(fits := scales_that_fit(calls, sizes)) == 1:
            return f"everything is scaled by {fits[0]} in place of 1/√D"
        return f"everything is right but for a factor of each call, {min(calls):.2g} to {max(calls):.2g}"
    if all(_whole_rows(factor) for factor in factors):
        return ""
    told = f"rows are right but for a factor of each, {values.min():.2g} to {values.max():.2g}"
    return "; ".join(filter(None, (told, wrong_l(read, factors))))


def _of_rows(each: Made) -> Array:
    """The factor of each row (B, H, N); of one that is 0 as of the others."""
    size = (each.right**2).sum(-1)
    told = size > _NOTHING * size.max()
    factor = np.where(told, (each.made * each.right).sum(-1) / np.where(told, size, 1.0), np.nan)
    return np.asarray(np.where(told, factor, np.nanmedian(factor)))


def _whole_rows(factor: Array) -> bool:
    """Whether rows count or do not, which counting tells better."""
    return bool(np.all(np.abs(factor - np.round(factor)) <= SAME))


#: One factor of all → of the problem.
_FACTORS: Mapping[str, Callable[[Problem], float]] = {
    "0": lambda p: 0.0,
    "turned in sign": lambda p: -1.0,
    "twice what it should be": lambda p: 2.0,
    "half of what it should be": lambda p: 0.5,
    "multiplied by √D, which it should be divided by": lambda p: float(p.case.q.shape[3]),
    "without 1/√D": lambda p: float(p.case.q.shape[3] ** 0.5),
    "divided by √D once more": lambda p: float(p.case.q.shape[3] ** -0.5),
    "multiplied by 1/√N, not by 1/√D": lambda p: float((p.case.q.shape[3] / p.case.q.shape[2]) ** 0.5),
    "multiplied by 1/√T, not by 1/√D": lambda p: float((p.case.q.shape[3] / p.tile) ** 0.5),
    "multiplied by ln 2": lambda p: float(np.log(2.0)),
    "multiplied by log₂e": lambda p: float(1.0 / np.log(2.0)),
    "multiplied by the number of heads": lambda p: float(p.case.q.shape[1]),
    "divided by the number of heads": lambda p: 1.0 / p.case.q.shape[1],
}


def _counted(read: Sequence[Made]) -> str:
    """Pairs that are left out, that count more than once, or that should be hidden.

    What is 0 in every head anyhow says nothing of how often it counts.
    """
    counts = []
    for each in read:
        size = np.abs(each.whole)
        told = size > 1e-12 * size.max()
        times = np.where(told, np.round(each.made / np.where(told, each.whole, 1.0)), np.nan)
        fits = close(each.made, np.where(told, times * each.whole, 0.0))
        first = np.nanmax(np.where(told, times, -1.0), axis=(0, 1))
        odd = told & (times != first)
        if not fits or odd.any() or first.max() > _MOST_TIMES or np.nanmin(times) < 0:
            return ""
        counts.append(first.astype(np.int64))
    cases = [replace(each.problem.case, tile=each.problem.tile) for each in read]
    return counts_told(cases, counts, example=False) or _by_tiles(cases, counts) or counts_told(cases, counts)


def _by_tiles(cases: Sequence[Case], counts: Sequence[npt.NDArray[np.int64]]) -> str:
    """Pairs of tiles whose shares are missing as a whole, of the first case."""
    told = []
    for case, count in zip(cases, counts, strict=True):
        length, tile = case.q.shape[2], case.tile
        seen = np.tri(length, dtype=bool) | (not case.causal)
        starts = range(0, length, tile)
        missing = []
        for row, key in itertools.product(starts, starts):
            part = (slice(row, row + tile), slice(key, key + tile))
            known = seen[part] & (count[part] >= 0)
            lost = known & (count[part] == 0)
            if (lost.any() and not np.array_equal(lost, known)) or (count[part][known] > 1).any():
                return ""
            missing += [(row // tile, key // tile)] if lost.any() else []
        told.append(missing)
    if not told[0] or len(cases[0].q[0, 0]) <= cases[0].tile:
        return ""
    (row, key), *_ = told[0]
    every = len(range(0, cases[0].q.shape[2], cases[0].tile))
    pairs = every * (every + 1) // 2 if cases[0].causal else every**2
    mask = "causal" if cases[0].causal else "full"
    return (
        f"whole shares of pairs of tiles are lost, the others are right: {len(told[0])} of {pairs} with N = "
        f"{cases[0].q.shape[2]}, T = {cases[0].tile}, {mask} (query tile {row} with key tile {key} first)"
    )
