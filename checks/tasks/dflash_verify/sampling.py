"""What happens above temperature 0: what is certain at any temperature decides, all else is evidence."""

from __future__ import annotations

from collections import Counter

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Fault
from judge_tui.checks.tasks.dflash_verify.drafting import prompt_of
from judge_tui.checks.tasks.dflash_verify.scripts import constant, decisive
from judge_tui.checks.tasks.dflash_verify.trees import Tree
from judge_tui.checks.tasks.dflash_verify.verifying import Verification

__all__ = ["hold_certain", "note_sampling"]

_DRAWS = 120
_VOCAB = 5


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
            # That only greedy verification is there is evidence, which note_sampling gives.
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


def note_sampling(bench: Bench, found: Findings, verify: Verification) -> None:
    """Draw first tokens at temperature 1 below a tree of two roots; note how far they are from the target's.

    Decides nothing.
    """
    quantity = (
        f"temperature 1: first token against the target's distribution, total variation, {_DRAWS} draws"
    )
    if not verify.binding.takes("temperature"):
        found.note(quantity, "no temperature is taken")
        return
    rng = bench.rng("sampling")
    prompt = prompt_of(rng, _VOCAB, 3)
    script = decisive(rng, _VOCAB, prompt, 1)
    truth = np.exp(script.rows.row(prompt))
    ranked = [int(token) for token in np.argsort(-truth)]
    tree = Tree((ranked[0], ranked[1]), (-1, -1))
    firsts: Counter[int] = Counter()
    try:
        for _draw in range(_DRAWS):
            answer = verify.answer(script, prompt, tree, temperature=1.0, budget=10.0)
            firsts[answer.output[0] if answer.output else -1] += 1
    except Fault as fault:
        found.note(quantity, f"refused: {fault.message}"[:200], **verify.where)
        return
    shares = np.array([firsts[token] / _DRAWS for token in range(_VOCAB)])
    distance = 0.5 * float(np.abs(shares - truth).sum())
    table = (
        ("token", "target", "drawn"),
        *((str(t), f"{truth[t]:.3f}", f"{shares[t]:.3f}") for t in range(_VOCAB)),
    )
    found.note(quantity, distance, note=_told(shares, distance, truth), table=table, **verify.where)


def _told(shares: np.ndarray[tuple[int, ...], np.dtype[np.float64]], distance: float, truth: object) -> str:
    # The mean distance of as many true draws is Σ sqrt(p (1 - p) / n) / sqrt(2 π), which is below this.
    noise = 0.5 * float(np.sqrt(_VOCAB / _DRAWS))
    if shares.max() == 1.0:
        if int(shares.argmax()) == int(np.asarray(truth).argmax()):
            return (
                "the same token every time, the likeliest: temperature changes nothing, or the seed is fixed"
            )
        return "the same token every time: the seed is fixed"
    if distance <= 2 * noise:
        return f"as the target's own distribution, to within what so few draws can tell ({2 * noise:.2f})"
    return f"further from the target's distribution than {_DRAWS} true draws would be ({2 * noise:.2f})"
