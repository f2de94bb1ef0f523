"""Logits that lie close together at temperature 0: the largest is the target's, by however little it leads.

A tolerance takes a drafted token for as likely, and logits in fewer bits are tied where they are not: what is
taken below a lead, and is not above it, tells the two apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.bfloat16 import rounded as to_bfloat16
from judge_tui.checks.check import Findings
from judge_tui.checks.tasks.dflash_verify.drafting import prompt_of
from judge_tui.checks.tasks.dflash_verify.scripts import led
from judge_tui.checks.tasks.dflash_verify.trees import Tree
from judge_tui.checks.tasks.dflash_verify.verifying import Case, Verification

__all__ = ["hold_close"]

#: By how much the likeliest token leads; float32 tells the least of them apart by far.
_LEADS = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
_VOCABS = (2, 7, 40)
#: What logits may be rounded to, in words.
_ROUNDED: Mapping[str, Callable[[npt.NDArray[np.float64]], Any]] = {
    "float16": lambda row: row.astype(np.float16).astype(np.float64),
    "bfloat16": lambda row: to_bfloat16(row.astype(np.float32)).astype(np.float64),
    **{f"{places} places": partial(np.round, decimals=places) for places in (1, 2, 3, 4)},
}


@dataclass(frozen=True, slots=True)
class _Close:
    """A verification where one token leads another by little.

    Attributes:
        case: It.
        lead: By how much.
        second: The token that is behind.
        drafted: Whether that one is drafted.
    """

    case: Case
    lead: float
    second: int
    drafted: bool

    @property
    def took(self) -> int | None:
        """The first token that came."""
        output = self.case.answer.output
        return output[0] if output else None

    @property
    def wrong(self) -> bool:
        """Whether that is not the likeliest."""
        return not self.case.lossless


def hold_close(bench: Bench, found: Findings, verify: Verification) -> str:
    """Hold what comes where the likeliest token leads by little.

    Returns:
        What is wrong, in words.
    """
    seen = list(_seen(bench, verify))
    wrong = [one for one in seen if one.wrong]
    told = ""
    if wrong:
        told = f"where the likeliest token leads by little, {_rule(seen)}: {wrong[0].case}"
    found.claim(
        "logits that lie close together: tokens of greedy decoding", not wrong,
        measured=f"{len(seen) - len(wrong)} of {len(seen)}", limit=f"{len(seen)} of {len(seen)}",
        note=told, **verify.where,
    )  # fmt: skip
    return told


def _seen(bench: Bench, verify: Verification) -> Iterator[_Close]:
    """At each lead: the second one drafted alone, before the likeliest one, and not at all."""
    for number, lead in enumerate(_LEADS):
        for vocab in _VOCABS:
            rng = bench.rng("close", number, vocab)
            prompt = prompt_of(rng, vocab, int(rng.integers(1, 6)))
            # the second one is listed first, so that logits that are rounded to one give it
            second, first = sorted(int(token) for token in rng.choice(vocab, size=2, replace=False))
            script = led(rng, vocab, prompt, first, second, lead)
            for tokens in ((second,), (second, first), (first,)):
                case = verify(script, prompt, Tree(tokens, (-1,) * len(tokens)))
                yield _Close(case, lead, second, second in tokens)


def _rule(seen: Sequence[_Close]) -> str:
    """What is taken instead, and from which lead on, as a clause."""
    if to := _rounded(seen):
        return f"it takes what is tied as where logits are rounded to {to}"
    wrong = [one for one in seen if one.wrong]
    most = max(one.lead for one in wrong)
    if not all(one.took == one.second for one in wrong):
        return f"it takes another token (leads of {most:g} and less)"
    which = "a drafted token" if all(one.drafted for one in wrong) else "the second likeliest token"
    fine = min((one.lead for one in seen if one.lead > most), default=0.0)
    right = f", not one {fine:g} smaller, as where logits that near are taken for equal" if fine else ""
    return f"it takes {which} with a logit up to {most:g} smaller than the largest{right}"


def _rounded(seen: Sequence[_Close]) -> str:
    """What logits are rounded to where that explains every token; empty for nothing."""
    for words, to in _ROUNDED.items():
        chosen = [int(np.argmax(to(one.case.script.rows.row(one.case.prompt)))) for one in seen]
        if all(token == one.took for token, one in zip(chosen, seen, strict=True)):
            return words
    return ""
