"""Rules of acceptance that accept less or other than all that is right, so that evidence can name them."""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.checks.tasks.dflash_verify.picks import picked, picked_new
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree, likeliest
from judge_tui.checks.tasks.dflash_verify.verifying import Case
from judge_tui.checks.tasks.dflash_verify.walks import WALKS, Wanted
from judge_tui.checks.worker.scripted.models import Rows

__all__ = ["RULES", "STOPPING", "because", "explained", "followed", "taken_from"]

#: Rule → it, in words; the first one that explains everything is told, and of two that do the milder one.
RULES = {
    "first": "only the first child of a node looked at",
    "stop": "nothing looked at any more after the first refusal in the list",
    "self": "each node judged by the logits at itself",
    "before": "each node judged by the logits at the node listed before it",
    "prompt": "every node judged by the logits at the last prompt token",
    "after": "each node judged by the logits at the node listed behind it",
    "roots": "roots judged by the logits at the first node, others at their parent",
    "first root": "only the first root looked at",
    "last": "only the last child of a node looked at",
    "unasked": "the first root accepted without being asked about, and no other",
    "drafted": "the likeliest of the drafted children accepted, whatever the target's own is",
    "short": "the last of what is accepted left out",
    "inner": "rows of nodes without children left out, and those of the others looked up as if none were",
}
#: Where the new token may be taken from instead of the row of what was accepted, in words.
_ROWS = {
    "last refused": "the last of the refused children",
    "first refused": "the first of the refused children",
    "last node": "the last node of the tree",
    "prompt": "the last prompt token",
    "parent": "the parent of what was accepted last",
    "behind": "the node that is listed behind what was accepted last",
    "count": "the node whose row is numbered by how many were accepted, not by the last of them",
    "past": "the node whose row is one behind the number of those that were accepted",
}
#: Those that lose nothing but speed: the challenge's own steps say that a cycle stops at a refusal.
STOPPING = frozenset({"first", "stop"})


def because(told: str, cases: Sequence[Case]) -> str:
    """What is wrong, behind what explains all that was accepted, or every new token that came.

    Args:
        told: What is wrong, in words; nothing is looked for where it is empty.
        cases: What was verified.
    """
    if not told:
        return ""
    if how := explained(cases):
        return f"accepts, in all {len(cases)} trees, as by {how}: {told}"
    source = taken_from(cases) if not _wrong(cases) else ""
    return f"the new token is{source}: {told}" if source else told


def explained(cases: Sequence[Case]) -> str:
    """The rule, or the walk, or the most levels, that explain what was accepted, in words; empty for none.

    Cases in which siblings have one token are left out: which of them is taken is for each to say.

    Args:
        cases: What was verified.
    """
    plain = [case for case in cases if not _twins(case.tree)]
    if rule := followed(plain):
        return RULES[rule]
    return _walked(plain) or _cut_off(plain) or (picked(plain) if plain else "")


def _twins(tree: Tree) -> bool:
    return len({*zip(tree.parents, tree.tokens, strict=True)}) < len(tree)


def _wrong(cases: Sequence[Case]) -> bool:
    return any(case.answer.tokens != case.right for case in cases)


def _walked(cases: Sequence[Case]) -> str:
    """The walk that explains every case."""
    wanted = [Wanted(case.script.rows, case.prompt, case.tree) for case in cases] if _wrong(cases) else []
    for words, walk in WALKS:
        pairs = zip(cases, wanted, strict=False)
        if wanted and all(walk(asked) == case.answer.tokens for case, asked in pairs):
            return words
    return ""


def _cut_off(cases: Sequence[Case]) -> str:
    """A number of levels below which nothing is accepted, all above it being right."""
    most = max((len(case.answer.tokens) for case in cases), default=0)
    if _wrong(cases) and all(case.answer.tokens == case.right[:most] for case in cases):
        return f"nothing accepted below level {most} of a tree" if most else ""
    return ""


def followed(cases: Sequence[Case]) -> str:
    """The rule that explains what was accepted in every case; empty when none does.

    Args:
        cases: What was verified.
    """
    if not _wrong(cases):
        return ""
    for rule in RULES:
        other = False
        for case in cases:
            accepted = _accepted(case.script.rows, case.prompt, case.tree, rule)
            other = other or accepted != case.right
            if accepted != case.answer.tokens:
                break
        else:
            if other:
                return rule
    return ""


def _accepted(rows: Rows, prompt: Tokens, tree: Tree, rule: str) -> Tokens:
    if rule == "drafted":
        return _likeliest_drafted(rows, prompt, tree)
    alive, wanted = {-1}, Wanted(rows, prompt, tree)
    best: Tokens = ()
    for node, token in enumerate(tree.tokens):
        parent = tree.parents[node]
        if parent not in alive and rule != "stop":
            continue
        asked = rule != "unasked" or parent >= 0
        fits = parent in alive and (not asked or wanted[_judge(tree, node, rule)] == token)
        siblings = wanted.children(parent)
        if rule in ("first", "last") and siblings[-(rule == "last")] != node:
            fits = False
        if rule in ("first root", "unasked") and parent < 0 and siblings[0] != node:
            fits = False
        if fits:
            alive.add(node)
            path = tree.text(tree.path(node))
            best = path if len(path) > len(best) else best
        elif rule == "stop":
            break
    return best[:-1] if rule == "short" else best


def _judge(tree: Tree, node: int, rule: str) -> int:
    """At which node the logits stand that a rule judges one by; -1 for the last prompt token."""
    parent = tree.parents[node]
    if rule == "roots":
        return parent if parent >= 0 else 0
    if rule == "inner":
        kept = [-1, *sorted({above for above in tree.parents if above >= 0})]
        return kept[min(parent + 1, len(kept) - 1)]
    return {"self": node, "before": node - 1, "prompt": -1, "after": min(node + 1, len(tree) - 1)}.get(
        rule, parent
    )


def _likeliest_drafted(rows: Rows, prompt: Tokens, tree: Tree) -> Tokens:
    text, node = list(prompt), -1
    while children := tree.children(node):
        row = rows.row(text)
        node = max(children, key=lambda child: row[tree.tokens[child]])
        text.append(tree.tokens[node])
    return tuple(text[len(prompt) :])


def taken_from(cases: Sequence[Case]) -> str:
    """After what else the new token is the target's own in every case, or every case of a kind, in words.

    Args:
        cases: What was verified.

    Returns:
        Empty where no such row explains all of them.
    """
    asked = [case for case in cases if case.answer.new is not None and case.drafted]
    wrong = [case for case in asked if not case.new_fits]
    scopes = {
        "": asked,
        " behind a whole path": [case for case in asked if not case.rejected],
        " where a child is refused": [case for case in asked if case.rejected],
    }
    for rule, words in _ROWS.items():
        for scope, inside in scopes.items():
            covered = all(case in inside for case in wrong)
            if wrong and covered and all(case.answer.new == _new(case, rule) for case in inside):
                return f"{scope} what the target gives after {words}"
    return picked_new(asked) if wrong else ""


def _new(case: Case, rule: str) -> int:
    tree, at = case.tree, -1
    for token in case.answer.tokens:
        at = next(child for child in tree.children(at) if tree.tokens[child] == token)
    refused = tree.children(at)
    place = {
        "last refused": refused[-1] if refused else at,
        "first refused": refused[0] if refused else at,
        "last node": len(tree) - 1,
        "prompt": -1,
        "parent": tree.parents[at] if at >= 0 else -1,
        "behind": min(at + 1, len(tree) - 1),
        "count": len(case.answer.tokens) - 1,
        "past": min(len(case.answer.tokens), len(tree) - 1),
    }[rule]
    return likeliest(case.script.rows, (*case.prompt, *tree.text(tree.path(place))))
