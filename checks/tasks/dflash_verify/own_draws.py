"""Draws about sizes that the submission's own source names, in the place of some that any submission gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import BadResult, Fault, Raised
from judge_tui.checks.refusing import refusal
from judge_tui.checks.sizes import About, Range
from judge_tui.checks.tasks.dflash_verify.scripts import Script
from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree
from judge_tui.checks.tasks.dflash_verify.verifying import Case, Verification
from judge_tui.checks.verdict import Verdict

__all__ = [
    "AXES",
    "LARGEST",
    "Broken",
    "Drafted",
    "about",
    "hold_broken",
    "sizes_of",
    "told_apart",
    "verified",
]

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

LARGEST = "the largest drafted token"
#: Axes of which one may have to be larger for a verification to break.
_COMPARED = (("nodes", "V"), ("depth", "V"), ("nodes", "prompt"), ("prompt", "nodes"))

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


@dataclass(frozen=True, slots=True)
class Broken:
    """A verification that raised, or gave nothing of its kind.

    Attributes:
        fault: What went wrong.
        sizes: Axis → size.
    """

    fault: Fault
    sizes: Mapping[str, int]


def sizes_of(script: Script, prompt: Tokens, tree: Tree) -> Mapping[str, int]:
    """The sizes of a verification, by axis."""
    depth = max((len(tree.path(node)) for node in range(len(tree))), default=0)
    told = {"V": script.vocab_size, "nodes": len(tree), "prompt": len(prompt), "depth": depth}
    return told | {LARGEST: max(tree.tokens, default=0)}


def hold_broken(found: Findings, broken: Sequence[Broken], cases: Sequence[Case]) -> str:
    """Hold that nothing raised.

    Args:
        found: Is told.
        broken: What did.
        cases: What did not.

    Returns:
        What was raised, how often and of which sizes, as a clause.

    Raises:
        Fault: Nothing else came.
    """
    if not broken:
        return ""
    fault, total = broken[0].fault, len(broken) + len(cases)
    if not cases:
        raise fault
    fine = [sizes_of(case.script, case.prompt, case.tree) for case in cases]
    told = (
        f"{fault.placed} in {len(broken)} of {total} trees{told_apart([one.sizes for one in broken], fine)}"
    )
    found.claim(
        "verifications that answer", False, measured=f"{len(cases)} of {total}", limit=f"{total} of {total}",
        note=told, file=fault.file, line=fault.line, output=fault.output,
    )  # fmt: skip
    return told


def told_apart(broken: Sequence[Mapping[str, int]], fine: Sequence[Mapping[str, int]]) -> str:
    """The one axis whose sizes tell those that are broken from the others, as a clause; empty for none.

    Args:
        broken: Their sizes, by axis.
        fine: Those of the others.
    """
    for axis in broken[0]:
        off, right = [one[axis] for one in broken], [one[axis] for one in fine]
        if max(off) < min(right):
            return f", all those of {axis} = {max(off)} or less"
        if min(off) > max(right):
            return f", all those of {axis} = {min(off)} or more"
    for one, other in _COMPARED:
        if all(of[one] > of[other] for of in broken) and not any(of[one] > of[other] for of in fine):
            return f", all those of {one} > {other}"
    return ""


def verified(
    verify: Verification, found: Findings, drafts: Iterable[Drafted], broken: list[Broken] | None = None
) -> list[Case]:
    """Verify drafts; that one is refused which only the source's integers made so large warns.

    Args:
        verify: The submission's.
        found: Is told.
        drafts: What is drafted.
        broken: Takes what raises in their place, where it is handed in.

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
                if broken is None:
                    raise
                broken.append(Broken(fault, sizes_of(script, prompt, tree)))
                continue
            found.claim(
                "verifies at sizes about its own integers", False, measured=f"{why}: {told}",
                otherwise=Verdict.WARN, note="It refuses what the contract allows.",
                file=fault.file, line=fault.line,
            )  # fmt: skip
    return cases
