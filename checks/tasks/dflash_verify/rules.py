"""Rules of acceptance that are not the contract's, so that evidence can name the one that was followed."""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree, likeliest
from judge_tui.checks.tasks.dflash_verify.verifying import Case
from judge_tui.checks.worker.scripted.models import Rows

__all__ = ["followed"]

_RULES = {
    "self": "each node judged by the logits at itself",
    "before": "each node judged by the logits at the node listed before it",
    "prompt": "every node judged by the logits at the last prompt token",
    "first": "only the first child of a node looked at",
    "stop": "nothing looked at any more after the first refusal in the list",
}


def followed(cases: Sequence[Case], called: str) -> str:
    """A wrong rule that explains what was accepted in every case; empty when none does.

    Args:
        cases: What was verified.
        called: What they are, in the plural.
    """
    for rule, told in _RULES.items():
        answers = [_accepted(case.script.rows, case.prompt, case.tree, rule) for case in cases]
        if all(case.answer.tokens == answer for case, answer in zip(cases, answers, strict=True)) and any(
            answer != case.right for case, answer in zip(cases, answers, strict=True)
        ):
            return f"what was accepted is in all {len(cases)} {called} as by {told}"
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
