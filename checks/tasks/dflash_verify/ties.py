"""Tied logits at temperature 0: greedy decoding takes the first of them, as argmax does, drafted or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.dflash_verify.drafting import prompt_of
from judge_tui.checks.tasks.dflash_verify.scripts import Script, tied
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree
from judge_tui.checks.tasks.dflash_verify.verifying import Case, Verification

__all__ = ["hold_ties"]

#: Vocabularies, and how many tokens lead alike in each.
_SIZES = ((2, 2), (5, 2), (7, 7), (11, 3), (37, 4))
#: Of so many wrong ones it is seen whether the same call gives something else, in so many calls.
_ASKED, _AGAIN = 2, 8


@dataclass(frozen=True, slots=True)
class _Tied:
    """A tree below a prompt after which several tokens lead alike.

    Attributes:
        script: The target model.
        prompt: Token ids.
        tree: What was drafted.
        leaders: The tokens that lead alike, ascending.
        at: How many tokens of the text stand before the tie.
    """

    script: Script
    prompt: Tokens
    tree: Tree
    leaders: Tokens
    at: int


def hold_ties(bench: Bench, found: Findings, verify: Verification) -> str:
    """Hold what comes where several logits are exactly the largest.

    Returns:
        What is wrong, in words.
    """
    drafts = list(_drafts(bench))
    cases = [verify(drafted.script, drafted.prompt, drafted.tree) for drafted in drafts]
    wrong = [(drafted, case) for drafted, case in zip(drafts, cases, strict=True) if not case.lossless]
    told = ""
    if wrong:
        drafted, case = wrong[0]
        rule = _drawn(verify, wrong) or _rule(
            [(each, one.answer.output) for each, one in zip(drafts, cases, strict=True)]
        )
        told = (
            f"where tokens {list(drafted.leaders)} have the same largest logit, it {rule}; "
            f"the target's argmax is the first: {case}"
        )
    found.claim(
        "tied logits: tokens of greedy decoding", not wrong,
        measured=f"{len(cases) - len(wrong)} of {len(cases)}", limit=f"{len(cases)} of {len(cases)}",
        note=told, **verify.where,
    )  # fmt: skip
    return told


def _drawn(verify: Verification, wrong: list[tuple[_Tied, Case]]) -> str:
    """That one of the tied tokens is drawn, in words; empty where the same call gives the same again."""
    for drafted, case in wrong[:_ASKED]:
        for seed in range(1, _AGAIN):
            answer = verify.answer(drafted.script, drafted.prompt, drafted.tree, seed=seed)
            if answer.output != case.answer.output:
                return (
                    "draws one of them at random, as where a temperature of 0 is a very small one: the same "
                    f"call gives {list(case.answer.output)}, and {list(answer.output)} again"
                )
    return ""


def _rule(answers: list[tuple[_Tied, Tokens]]) -> str:
    """What is done of tied tokens, in words, from all that came."""
    chosen = [(each, output[each.at]) for each, output in answers if len(output) > each.at]
    if all(token == each.leaders[-1] for each, token in chosen):
        return "takes the last of them"
    if all(token in each.leaders for each, token in chosen):
        drafted = all(token in (each.leaders[0], *each.tree.tokens) for each, token in chosen)
        return "accepts a drafted one that is not the first" if drafted else "takes one that is not the first"
    return "takes another token"


def _drafts(bench: Bench) -> Iterator[_Tied]:
    """A tie behind the prompt and behind an accepted node: none of it drafted, its first, its last, both."""
    for number, (vocab, count) in enumerate(_SIZES):
        rng = bench.rng("ties", number)
        prompt = prompt_of(rng, vocab, int(rng.integers(1, 6)))
        leaders = tuple(sorted(int(token) for token in rng.choice(vocab, size=count, replace=False)))
        first, last = leaders[0], leaders[-1]
        before = int(rng.integers(vocab))
        behind = tied(rng, vocab, {(*prompt, before): leaders, prompt: (before,)})
        for drafted in ((), (first,), (last,), (last, first)):
            below = Tree((before, *drafted), (-1, *(0 for _ in drafted)))
            yield _Tied(behind, prompt, below, leaders, 1)
        at_once = tied(rng, vocab, {prompt: leaders})
        for drafted in ((first,), (last,), (first, last)):
            yield _Tied(at_once, prompt, Tree(drafted, (-1,) * len(drafted)), leaders, 0)
