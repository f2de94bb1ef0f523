"""Whether the mask lets every position see what it may see, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import BadResult, Fault
from judge_tui.checks.tasks.dflash_verify.drafting import ORDERS, ordered
from judge_tui.checks.tasks.dflash_verify.handing import given
from judge_tui.checks.tasks.dflash_verify.masks import Mask, Written, seen
from judge_tui.checks.tasks.dflash_verify.mismade import Made, explained
from judge_tui.checks.tasks.dflash_verify.own_draws import about
from judge_tui.checks.tasks.dflash_verify.trees import Tree, shown, visibility
from judge_tui.checks.verdict import Verdict

__all__ = ["tree_mask"]

#: Shapes that matter, as parents: one node, a chain, siblings, roots, cousins level by level and by branch.
_SHAPES = {
    "one node": (-1,),
    "chain": (-1, 0, 1, 2),
    "siblings": (-1, 0, 0, 0),
    "roots": (-1, -1, -1),
    "cousins, level by level": (-1, -1, 0, 0, 1, 1, 2, 4),
    "cousins, branch by branch": (-1, 0, 1, 0, -1, 4, 5, 4),
}
#: Chains of so many nodes: ancestors found by doubling, up to a depth, or in the bits of a machine word.
_CHAINS = (*range(1, 19), 31, 33, 65)
#: A tree on which a mask shows how it is written.
_PROBE = (-1, -1, 0, 0, 1, 3, 5)
_RANDOM = 18
_EDGE_BUDGET = 5.0
#: Ways to write a mask, in words; the further down, the further from what was asked for.
_TOLD = {
    Written.BOOL: "bool, true = visible",
    Written.INVERTED: "bool, true = hidden",
    Written.NUMBERS: "numbers, 1 = visible",
    Written.INVERTED_NUMBERS: "numbers, 1 = hidden",
    Written.ADDITIVE: "additive values",
}
_RELATIONS = (
    "prompt sees prompt (causal)", "prompt sees tree", "node sees prompt", "node sees itself",
    "node sees ancestor", "node sees descendant", "node sees sibling", "node sees other branch",
)  # fmt: skip


@check(
    "tree_mask",
    "tree attention mask",
    establishes="The prompt is causal; a node sees the whole prompt, itself and its ancestors, nothing else.",
    roles=("mask",),
    version=12,
)
def tree_mask(bench: Bench, found: Findings) -> str:
    """Build masks of stated and random trees and of chains, and hold each cell against its relation."""
    where: dict[str, Any] = {"file": bench.binding("mask").file, "line": bench.binding("mask").line or None}
    asked: dict[str, int] = dict.fromkeys(_RELATIONS, 0)
    wrong: dict[str, int] = dict.fromkeys(_RELATIONS, 0)
    written, values, count, first = _built(bench, 6, _PROBE).written, "", 0, ""
    forms, made = [written], list[Made]()
    for name, prompt_len, parents in _cases(bench):
        truth = visibility(prompt_len, parents)
        mask = _built(bench, prompt_len, parents, written)
        if mask.shape != truth.shape:
            told = (
                f"gave a mask {mask.shape} instead of {truth.shape} for P = {prompt_len}, N = {len(parents)}"
            )
            raise BadResult(told + _part(mask, prompt_len, len(parents)), **where)
        forms.append(mask.written)
        if mask.values:
            values = mask.values
        count += 1
        made.append(Made(prompt_len, parents, mask.visible))
        bad = _held(mask, truth, prompt_len, parents, asked, wrong)
        if bad and not first:
            alone = _right_alone(bench, prompt_len, parents, written)
            first = f"{name}: P = {prompt_len}, parents {shown(parents)}: {bad}{alone}"
    cells = sum(wrong.values())
    cause = f", as where {cause}" if cells and (cause := explained(made)) else ""
    table = (
        ("relation", "pairs", "wrong"),
        *((relation, str(asked[relation]), str(wrong[relation])) for relation in _RELATIONS),
    )
    found.claim(
        f"cells of {count} masks that are wrong", cells == 0, measured=cells, limit=0, note=f"{first}{cause}",
        table=table, **where,
    )  # fmt: skip
    last = max(forms, key=list(_TOLD).index)
    form = _form(found, last, values, where, changed=written is Written.BOOL and last is Written.ADDITIVE)
    _edges(bench, found, written, where)
    if cells:
        worst = max(_RELATIONS, key=lambda relation: wrong[relation])
        most = f"most of them '{worst}' ({wrong[worst]} of {asked[worst]})"
        return f"wrong in {cells} cells{cause}{';' if cause else ','} {most}; {first}"
    if form:
        return f"{form}; what it encodes is right in {count} masks"
    return f"right in every cell of {count} masks"


def _part(mask: Mask, prompt_len: int, size: int) -> str:
    """Which part of the mask came in place of the whole, as a clause; empty where it is none."""
    if mask.shape == (size, size):
        return ": the nodes among themselves, without the prompt"
    if mask.shape == (size, prompt_len + size):
        return ": the rows of the nodes, without those of the prompt"
    return ""


def _cases(bench: Bench) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Each shape twice in a row, the second time as another tree of the same size; chains; bushy trees."""
    rng = bench.rng("cases")
    own = about(bench, "masks", _RANDOM // 2, "nodes", "depth", "prompt", most=_RANDOM // 3)
    for name, parents in _SHAPES.items():
        prompt_len = int(rng.integers(1, 7))
        yield name, prompt_len, parents
        yield f"another tree of the size of '{name}'", prompt_len, _forest(rng, len(parents), parents)
    for number in range(_RANDOM // 2):
        prompt_len, size = (1 if number == 0 else int(rng.integers(1, 9))), int(rng.integers(2, 13))
        one, of, parents = own.get(number), "", ()
        if one:
            prompt_len, size = one.at.get("prompt", prompt_len), one.at.get("nodes", size)
            of, parents = f", {one}", tuple(range(-1, one.at.get("depth", 0) - 1))
        if parents:
            yield f"chain of {len(parents)}{of}", prompt_len, parents
            size = len(parents)
        else:
            parents = _forest(rng, size)
            yield f"random tree{of}", prompt_len, parents
        yield f"another random tree of its size{of}", prompt_len, _forest(rng, size, parents)
    for size in (*_CHAINS, *(int(size) for size in rng.integers(19, 160, 3))):
        yield f"chain of {size}", int(rng.integers(1, 5)), tuple(range(-1, size - 1))
    yield "random tree", 2, _forest(rng, int(rng.integers(_CHAINS[-1] + 1, 2 * _CHAINS[-1])))
    yield "a long prompt", int(rng.integers(64, 200)), _forest(rng, int(rng.integers(2, 13)))


def _forest(rng: np.random.Generator, size: int, other_than: Sequence[int] | None = None) -> tuple[int, ...]:
    """Random parents, listed before their children."""
    while True:
        drawn = tuple(int(rng.integers(-1, node)) if node else -1 for node in range(size))
        tree = Tree((0,) * size, drawn)
        parents = tree.listed(ordered(rng, tree, ORDERS[int(rng.integers(len(ORDERS)))])).parents
        if size == 1 or other_than is None or parents != tuple(other_than):
            return parents


def _built(
    bench: Bench,
    prompt_len: int,
    parents: Sequence[int],
    written: Written | None = None,
    budget: float | None = None,
    worker: Worker | None = None,
) -> Mask:
    tree = Tree(tuple(range(len(parents))), tuple(parents))
    inputs = {**given(tuple(range(prompt_len)), tree), "vocab_size": max(prompt_len, len(parents), 1)}
    returned = bench.call("mask", inputs, budget=budget, worker=worker)
    return seen(returned.value("mask"), visibility(prompt_len, parents), written)


def _right_alone(bench: Bench, prompt_len: int, parents: Sequence[int], written: Written) -> str:
    """That a mask which is wrong after others is right by itself, as a clause; empty where it is not."""
    truth = visibility(prompt_len, parents)
    try:
        with bench.fresh() as worker:
            mask = _built(bench, prompt_len, parents, written, worker=worker)
    except Fault:
        return ""
    right = mask.shape == truth.shape and np.array_equal(mask.visible, truth)
    return ", though right in a process of its own: the masks before leave something behind" if right else ""


def _held(
    mask: Mask,
    truth: Any,
    prompt_len: int,
    parents: Sequence[int],
    asked: dict[str, int],
    wrong: dict[str, int],
) -> str:
    """Count every cell under its relation; the first wrong one in words."""
    tree, first = Tree((0,) * len(parents), tuple(parents)), ""
    paths = [frozenset(tree.path(node)) for node in range(len(tree))]
    for row, column in np.ndindex(*truth.shape):
        relation = _relation(tree.parents, paths, row - prompt_len, column - prompt_len)
        asked[relation] += 1
        if mask.visible[row, column] != truth[row, column]:
            wrong[relation] += 1
            told = "sees" if mask.visible[row, column] else "does not see"
            first = first or f"{_name(row, prompt_len)} {told} {_name(column, prompt_len)}"
    return first


def _relation(parents: Sequence[int], paths: Sequence[frozenset[int]], node: int, other: int) -> str:
    if node < 0:
        return _RELATIONS[0 if other < 0 else 1]
    if other < 0:
        return _RELATIONS[2]
    if node == other:
        return _RELATIONS[3]
    if other in paths[node]:
        return _RELATIONS[4]
    if node in paths[other]:
        return _RELATIONS[5]
    return _RELATIONS[6 if parents[node] == parents[other] else 7]


def _name(position: int, prompt_len: int) -> str:
    return f"prompt token {position}" if position < prompt_len else f"node {position - prompt_len}"


def _form(
    found: Findings, written: Written, values: str, where: dict[str, Any], *, changed: bool = False
) -> str:
    """Hold the way the mask is written against 'bool, true = visible'; what is wrong in words.

    One that is booleans once and additive values later is in no form at all.
    """
    told = _TOLD[written] + (f" ({values})" if written is Written.ADDITIVE else "")
    # Numbers that are true and false where booleans should be do as masks wherever one is asked for; the
    # challenge asks for booleans, and does not say which way round: attention layers are written both ways;
    # and it names the additive form too.
    otherwise = Verdict.FAIL if changed or written is Written.INVERTED_NUMBERS else Verdict.WARN
    found.claim(
        "how the mask is written", written is Written.BOOL, measured=told, limit="bool, true = visible",
        otherwise=otherwise, **where,
    )  # fmt: skip
    return "" if written is Written.BOOL else f"the mask is {told} instead of bool, true = visible"


def _edges(bench: Bench, found: Findings, written: Written, where: dict[str, Any]) -> None:
    """An empty tree warns; children listed before their parents are evidence only."""
    try:
        told = "right" if _same(bench, 4, (), written) else "wrong"
    except Fault as fault:
        told = fault.message
    found.claim(
        "mask of an empty tree, P = 4", told == "right", measured=told, limit="right", otherwise=Verdict.WARN,
        **where,
    )  # fmt: skip
    try:
        told = "right" if _same(bench, 3, (2, 0, -1, 2, 3), written) else "wrong"
    except Fault as fault:
        told = fault.message
    found.note(
        "mask of a tree whose children stand before their parents (outside the contract)", told, **where
    )


def _same(bench: Bench, prompt_len: int, parents: tuple[int, ...], written: Written) -> bool:
    truth = visibility(prompt_len, parents)
    return bool(np.array_equal(_built(bench, prompt_len, parents, written, _EDGE_BUDGET).visible, truth))
