"""Draws about sizes that the submission's own source names, in the place of some that any submission gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Raised
from judge_tui.checks.refusing import refusal
from judge_tui.checks.sizes import About, Range
from judge_tui.checks.tasks.dflash_verify.scripts import Script
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree
from judge_tui.checks.tasks.dflash_verify.verifying import Case, Verification
from judge_tui.checks.verdict import Verdict

__all__ = ["AXES", "Drafted", "about", "verified"]

#: What an integer of the source may be: nodes of a tree, of its right path, tokens of the prompt and of the
#: vocabulary, siblings. Below these sizes others draw them anyway.
AXES: Mapping[str, Range] = {
    "nodes": (13, 140),
    "depth": (6, 50),
    "V": (13, 2100),
    "prompt": (10, 220),
    "siblings": (12, 200),
}
#: c + 1 and c first, of each axis: a size from which on code goes wrong, and one for which it does.
_STEPS = ((1, 1), (1, 0), (2, 1), (1, -1))

#: A target, what was decoded of it, what is drafted, and why it is of this size, where the source says so.
Drafted = tuple[Script, Tokens, Tree, str]


def about(bench: Bench, name: str, count: int, *axes: str, most: int = 0) -> dict[int, About]:
    """Which of several draws are about sizes of the source.

    Args:
        bench: Whose source it is.
        name: Of the draws.
        count: How many there are.
        axes: What sizes they have, of :data:`AXES`.
        most: How many at most, half of them when left out.

    Returns:
        Number of the draw → its sizes.
    """
    spread = {axis: AXES[axis] for axis in axes}
    most = most or count // 2
    sizes = bench.sizes("own sizes", name).about(bench.integers, spread, most, steps=_STEPS)
    places = bench.rng("places of own sizes", name).permutation(count)
    return {int(place): one for place, one in zip(places, sizes, strict=False)}


def verified(verify: Verification, found: Findings, drafts: Iterable[Drafted]) -> list[Case]:
    """Verify drafts; that one is refused which only the source's integers made so large warns.

    Args:
        verify: The submission's.
        found: Is told.
        drafts: What is drafted.

    Raises:
        Fault: Anything else went wrong.
    """
    cases = []
    for script, prompt, tree, why in drafts:
        try:
            cases.append(verify(script, prompt, tree, why=why))
        except (Raised, BadResult) as fault:
            told = refusal(verify.bench.submission, fault) if isinstance(fault, Raised) and why else ""
            if not told:
                fault.message += f" ({why})" if why else ""
                raise
            found.claim(
                "verifies at sizes about its own integers", False, measured=f"{why}: {told}",
                otherwise=Verdict.WARN, note="It refuses what the contract allows.",
                file=fault.file, line=fault.line,
            )  # fmt: skip
    return cases
