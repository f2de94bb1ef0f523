"""What is certain at any temperature: one token has nearly all of the probability."""

from __future__ import annotations

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Fault
from judge_tui.checks.tasks.dflash_verify.drafting import prompt_of
from judge_tui.checks.tasks.dflash_verify.scripts import constant
from judge_tui.checks.tasks.dflash_verify.trees import Tree
from judge_tui.checks.tasks.dflash_verify.verifying import Verification

__all__ = ["hold_certain"]


def hold_certain(bench: Bench, found: Findings, verify: Verification) -> str:
    """Hold what is emitted where the target leaves no choice: one token has all but 1e-9 of the probability.

    Returns:
        What is wrong, in words.
    """
    if not verify.binding.takes("temperature"):
        return ""
    told = ""
    for number, temperature in enumerate((1.0, 0.7, 1.0)):
        rng, vocab = bench.rng("certain", number), bench.sizes("certain", number).between(6, 60)
        token, wrong, *_rest = (int(t) for t in rng.permutation(vocab))
        script, prompt = constant(rng, vocab, token), prompt_of(rng, vocab, 3)
        tree = Tree((wrong, token, wrong, token), (-1, -1, 1, 1))
        try:
            output = verify.answer(script, prompt, tree, temperature=temperature, budget=10.0).output
        except BadResult as fault:
            told = told or f"at temperature {temperature:g} it {fault.message}"
        except Fault:
            # that only greedy verification is there is for `distribution` to say
            return told
        else:
            if set(output) != {token}:
                told = told or (
                    f"at temperature {temperature:g} it gives {list(output)} where the target has token "
                    f"{token} alone"
                )
    found.claim(
        "tokens above temperature 0 where the target has one alone", not told, measured=told or "that one",
        limit="that one", **verify.where,
    )  # fmt: skip
    return told
