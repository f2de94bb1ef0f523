"""Rules of acceptance that accept less or other than all that is right, so that evidence can name them."""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree, likeliest
from judge_tui.checks.tasks.dflash_verify.verifying import Case
from judge_tui.checks.worker.scripted.models import Rows

__all__ = ["RULES", "STOPPING", "followed"]

#: Rule → it, in words; the first one that explains everything is told, and of two that do the milder one.
RULES = {
    "first": "only the first child of a node looked at",
    "stop": "nothing looked at any more after the first refusal in the list",
    "self": "each node judged by the logits at itself",
    "before": "each node judged by the logits at the node listed before it",
    "prompt": "every node judged by the logits at the last prompt token",
}
#: Those that lose nothing but speed: the challenge's own steps say that a cycle stops at a refusal.
STOPPING = frozenset({"first", "stop"})


def followed(cases: Sequence[Case]) -> str:
    """The rule that explains what was accepted in every case; empty when none does.

    Args:
        cases: What was verified.
    """
    for rule in RULES:
        answers = [_accepted(case.script.rows, case.prompt, case.tree, rule) for case in cases]
        if all(case.answer.tokens == answer for case, answer in zip(cases, answers, strict=True)) and any(
            answer != case.right for case, answer in zip(cases, answers, strict=True)
        ):
            return rule
    return ""


def _accepted(rows: Rows, prompt: Tokens, tree: Tree, rule: str) -> Tokens:
    alive = {-1}
    best: Tokens = ()
    for node, token in enumerate(tree.tokens):
        parent = tree.parents[node]
        at = {"self": node, "before": node - 1, "prompt": -1}.get(rule, parent)
        wanted = likeliest(rows, (*prompt, *tree.text(tree.path(at))))
        fits = parent in alive and wanted == token
        if rule == "first" and tree.children(parent)[0] != node:
            fits = False
        if fits:
            alive.add(node)
            path = tree.text(tree.path(node))
            best = path if len(path) > len(best) else best
        elif rule == "stop":
            break
    return best
