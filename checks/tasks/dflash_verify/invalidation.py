"""Whether everything below a rejected node is rejected with it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.tasks.dflash_verify.drafting import ORDERS, chain, ordered, prompt_of
from judge_tui.checks.tasks.dflash_verify.own_draws import Drafted, about, verified
from judge_tui.checks.tasks.dflash_verify.rules import because
from judge_tui.checks.tasks.dflash_verify.scripts import Script, constant, decisive
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree, greedy, likeliest
from judge_tui.checks.tasks.dflash_verify.verifying import Case, Verification

__all__ = ["KINDS", "baited", "subtree_invalidation"]

_VOCABS = (60, 160)
#: What makes the subtree of a rejected node look right.
KINDS = (
    "goes on as the model does after the rejected token",
    "holds the right tokens of its depth",
    "holds the token that the model predicts everywhere",
)
#: Nodes of the right path beside the rejected one, and depth at which the rejected node hangs.
_PLACES = ((0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (2, 2))
_BELOW = 3
#: Tokens of the vocabulary for each of a long path, at least.
_ROOM = 4
#: Trees of a kind about sizes of the source.
_MOST_OWN = 6


@check(
    "subtree_invalidation",
    "rejection takes the subtree",
    establishes="No descendant of a rejected node is accepted, however right it looks where it stands.",
    roles=("verify",),
    version=6,
)
def subtree_invalidation(bench: Bench, found: Findings) -> str:
    """Hang tempting descendants below wrong nodes, beside right paths and without."""
    verify = Verification(bench)
    cases = {kind: verified(verify, found, baited(bench, kind)) for kind in KINDS}
    bad = {kind: [case for case in made if _below(case)] for kind, made in cases.items()}
    for kind in KINDS:
        found.claim(
            f"accepted below a rejected node whose subtree {kind}", not bad[kind],
            measured=f"{len(bad[kind])} of {len(cases[kind])} trees", limit="0",
            note=str(bad[kind][0]) if bad[kind] else "", **verify.where,
        )  # fmt: skip
    control = _control(bench, verify)
    # To accept nothing is no invalidation: what any rule of acceptance accepts must be accepted.
    accepts = len(control.answer.tokens) > 0
    found.claim(
        "control: accepted of a chain of the token that the model predicts everywhere", accepts,
        measured=len(control.answer.tokens), limit="at least 1 of 3", note="" if accepts else str(control),
        **verify.where,
    )  # fmt: skip
    total = sum(map(len, cases.values()))
    worst = [case for made in bad.values() for case in made]
    if worst:
        told = f"accepts below a rejected node in {len(worst)} of {total} trees: {worst[0]}"
        return because(told, [case for made in cases.values() for case in made])
    if not accepts:
        return "nothing is ever accepted, so that nothing is shown about rejection"
    return f"nothing accepted below a rejected node in {total} trees"


def _below(case: Case) -> bool:
    """Whether something was accepted that stands below a wrong node."""
    tokens, nodes = case.answer.tokens, case.answer.nodes
    agreed = next((i for i, pair in enumerate(zip(tokens, case.right)) if pair[0] != pair[1]), None)  # noqa: B905
    common = min(len(tokens), len(case.right)) if agreed is None else agreed
    path = case.tree.is_path(nodes) if nodes else case.tree.drafted(tokens)
    # A wrong node alone is judged wrongly, and nothing below it accepted: parent_logits is about that.
    return not path or len(tokens) > common + 1


def baited(bench: Bench, kind: str) -> Iterator[Drafted]:
    """Trees with a wrong node whose subtree looks right, beside right paths of several lengths.

    Args:
        bench: Draws them.
        kind: One of :data:`KINDS`.
    """
    draws = list(itertools.product(_PLACES, ORDERS))
    own = about(bench, kind, len(draws), "depth", "V", "prompt", most=_MOST_OWN)
    for number, ((right, depth), order) in enumerate(draws):
        rng, one = bench.rng(kind, number), own.get(number)
        axes = {"V": bench.sizes(kind, number).between(*_VOCABS), "prompt": int(rng.integers(1, 6))}
        axes |= one.at if one else {}
        # the wrong node's subtree ends where so many nodes make a path
        below = max(axes.get("depth", 0) - depth - 1, _BELOW)
        # tokens that a long path has not
        vocab = max(axes["V"], _ROOM * axes.get("depth", 0))
        prompt = prompt_of(rng, vocab, axes["prompt"])
        if kind == KINDS[2]:
            script = constant(rng, vocab, int(rng.integers(vocab)))
        else:
            script = decisive(rng, vocab, prompt, max(right, depth) + below + 1)
        tree = _tempting(rng, script, prompt, right, depth, kind, below)
        yield script, prompt, tree.listed(ordered(rng, tree, order)), str(one or "")


def _tempting(
    rng: np.random.Generator,
    script: Script,
    prompt: Tokens,
    right: int,
    depth: int,
    kind: str,
    below: int,
) -> Tree:
    """A right path, and beside its node at ``depth`` a wrong one with a tempting chain below it."""
    path, _lead = greedy(script.rows, prompt, max(right, depth) + below + 1)
    tokens, parents = list(path[:right]), list(range(-1, right - 1))
    text = [*prompt, *path[:depth]]
    free = (int(t) for t in rng.permutation(script.vocab_size) if t not in path)
    tokens.append(next(t for t in free if likeliest(script.rows, [*text, t]) != t))
    parents.append(depth - 1)
    text.append(tokens[-1])
    for step in range(below):
        follows = path[depth + 1 + step] if kind == KINDS[1] else likeliest(script.rows, text)
        tokens.append(follows)
        parents.append(len(tokens) - 2)
        text.append(follows)
    return Tree(tuple(tokens), tuple(parents))


def _control(bench: Bench, verify: Verification) -> Case:
    rng, vocab = bench.rng("control"), bench.sizes("control").between(*_VOCABS)
    token = int(rng.integers(vocab))
    return verify(constant(rng, vocab, token), prompt_of(rng, vocab, 4), chain((token,) * 3))
