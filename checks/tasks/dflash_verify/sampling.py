"""What is certain above 0: one token has nearly all of the probability, or the temperature is near 0."""

from __future__ import annotations

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Fault, Raised
from judge_tui.checks.refusing import refusal
from judge_tui.checks.tasks.dflash_verify.drafting import prompt_of
from judge_tui.checks.tasks.dflash_verify.scripts import constant, distributed
from judge_tui.checks.tasks.dflash_verify.trees import Tree
from judge_tui.checks.tasks.dflash_verify.verifying import Verification

__all__ = ["hold_certain"]

#: So near 0 that powers of log-probabilities are 0 in float64, unless the greatest is taken away first.
_COLD, _LIKELIEST = 2e-4, 0.5


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
    return told or _hold_cold(bench, found, verify)


def _hold_cold(bench: Bench, found: Findings, verify: Verification) -> str:
    """Near temperature 0 the likeliest token is certain, though every weight that is not scaled is 0."""
    told = ""
    for number in range(3):
        rng, vocab = bench.rng("cold", number), bench.sizes("cold", number).between(6, 60)
        token, *others = (int(t) for t in rng.permutation(vocab))
        rest = {other: (1.0 - _LIKELIEST) / len(others) for other in others}
        prompt = prompt_of(rng, vocab, 3)
        script = distributed(vocab, prompt, {(): {token: _LIKELIEST, **rest}})
        tree = Tree((others[0], token if number else others[1]), (-1, -1))
        try:
            output = verify.answer(script, prompt, tree, temperature=_COLD, budget=10.0).output
        except Fault as fault:
            if isinstance(fault, Raised) and refusal(bench.submission, fault):
                found.note(f"temperature {_COLD:g}", fault.message)
                return ""
            told = told or f"at temperature {_COLD:g} it {fault.placed}"
        else:
            if tuple(output[:1]) != (token,):
                told = told or f"at temperature {_COLD:g} it gives {list(output)} where {token} is likeliest"
    found.claim(
        f"the first token at temperature {_COLD:g}", not told, measured=told or "the likeliest",
        limit="the likeliest", **verify.where,
    )  # fmt: skip
    return told
