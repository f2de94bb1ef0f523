"""A target that keeps what it answers, and a verifier that strikes refused tokens out in that very array.

Both may be right by themselves: together a token that was refused once never comes again. Only the
submission's own target can show it, where the two are used as they were handed in.
"""

from __future__ import annotations

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.dflash_verify.own_model import VOCAB, asked, models
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree
from judge_tui.checks.tasks.dflash_verify.verifying import Verification

__all__ = ["hold_own_answers"]

_PROMPTS: tuple[Tokens, ...] = ((3, 1, 2), (5, 4), (1, 6, 2, 7))
#: So many draws, so hot that the likeliest token is refused in one of them.
_DRAWS, _HOT = 16, 6.0
_ROOTS = 5


def hold_own_answers(bench: Bench, found: Findings, verify: Verification) -> str:
    """Hold its greedy token below the same tree before and after draws, with the submission's own target.

    Returns:
        What is wrong, as a clause; empty where nothing is, or no target of its own could be driven.
    """
    for name, model in models(bench, verify):
        if isinstance(model, Fault):
            continue
        try:
            told = next((told for prompt in _PROMPTS if (told := _changed(bench, verify, model, prompt))), "")
        except Fault:
            continue
        found.claim(
            "its own target: the greedy token below a tree, before and after draws", not told,
            measured=told or "the same", limit="the same", note=name, **verify.where,
        )  # fmt: skip
        if told:
            return (
                f"what it writes into its target's answer stays there: {name} keeps its answers, so that "
                f"a token that was refused once is struck out for good ({told})"
            )
    return ""


def _changed(bench: Bench, verify: Verification, model: Handle | None, prompt: Tokens) -> str:
    """How its greedy token differs after draws, as a clause; empty where it does not."""
    first = asked(bench, verify, model, prompt, Tree((), ())).output[0]
    others = [token for token in range(VOCAB // 2) if token != first][: _ROOTS - 1]
    tree = Tree((first, *others), (-1,) * _ROOTS)
    before = asked(bench, verify, model, prompt, tree).output
    for seed in range(_DRAWS):
        asked(bench, verify, model, prompt, tree, _HOT, seed)
    after = asked(bench, verify, model, prompt, tree).output
    if after[:1] == before[:1]:
        return ""
    return (
        f"prompt {list(prompt)}, {tree}: {list(after)} at temperature 0 after {_DRAWS} draws, {list(before)} "
        "before them"
    )
