"""What mistake wrong gradients come of, by all that is known of their calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge_tui.checks.bench import Bench
from judge_tui.checks.precision import Lowered
from judge_tui.checks.tasks.flash_attention_bwd.displaced import displaced
from judge_tui.checks.tasks.flash_attention_bwd.earlier import of_another_call
from judge_tui.checks.tasks.flash_attention_bwd.exchanged import exchanged
from judge_tui.checks.tasks.flash_attention_bwd.held import Figure, Ledger
from judge_tui.checks.tasks.flash_attention_bwd.lowered import of_lower_precision
from judge_tui.checks.tasks.flash_attention_bwd.mistakes import NOTHING, common
from judge_tui.checks.tasks.flash_attention_bwd.narrowed import narrowed
from judge_tui.checks.tasks.flash_attention_bwd.pairs import wrong_pairs
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import NAMES
from judge_tui.checks.tasks.flash_attention_bwd.regions import wrong_regions
from judge_tui.checks.verdict import Verdict

__all__ = ["Causes", "causes_of"]


@dataclass(frozen=True, slots=True)
class Causes:
    """What is known of wrong gradients.

    Attributes:
        causes: Gradient → a clause; empty for nothing.
        known: Gradients of which a mistake is told, and not only where they are wrong.
        lower: The lower precision that is all that is wrong; ``None`` for none.
    """

    causes: Mapping[str, str]
    known: frozenset[str]
    lower: Lowered | None

    def worst(self, ledger: Ledger) -> Figure:
        """The worst figure; of several wrong gradients of the one of which most is known."""
        worst = ledger.worst()
        if worst.name in self.known or not self.known:
            return worst
        other = ledger.worst(name for name in NAMES if name in self.known)
        return other if other.verdict is Verdict.FAIL else worst


def causes_of(
    bench: Bench,
    attention: Attention,
    double: Ledger,
    single: Ledger,
    told: Mapping[str, Sequence[tuple[str, ...]]],
) -> Causes:
    """What is wrong.

    Args:
        bench: Where it is judged.
        attention: What is called.
        double: Calls with float64 input.
        single: Calls with float32 input.
        told: Gradient → for each wrong call the formulas that give its answer.
    """
    wrong = double.worst().verdict is Verdict.FAIL
    causes = dict.fromkeys(told, of_another_call(bench, attention) if wrong else "")
    causes = {name: text or common(told[name]) for name, text in causes.items()}
    causes = {
        name: f"{text}{_in_few(double, single, name)}" if text == NOTHING else text
        for name, text in causes.items()
    }
    lower = None if any(causes.values()) else of_lower_precision(attention, double, single)
    if lower is not None:
        return Causes(dict.fromkeys(causes, lower.text), frozenset(), lower)
    if wrong and not any(causes.values()):
        causes = dict.fromkeys(causes, exchanged(bench, attention))
    known = {name for name, text in causes.items() if text}
    for name in set(causes) - known:
        read = _read_off(bench, attention, double, name)
        known |= {name} if read else set()
        causes[name] = "; ".join(filter(None, (read, narrowed(bench, attention, double, name))))
    return Causes(causes, frozenset(known), None)


def _in_few(double: Ledger, single: Ledger, name: str) -> str:
    """What is special about all calls whose gradient is wrong, as the end of a clause."""
    wrong = [
        figure.problem.case
        for ledger in (double, single)
        for figure in ledger.figures[name]
        if figure.verdict is Verdict.FAIL
    ]
    names = list(dict.fromkeys(case.name for case in wrong))
    return f" with {' and '.join(names)}" if len(names) <= 2 and not any(case.plain for case in wrong) else ""


def _read_off(bench: Bench, attention: Attention, ledger: Ledger, name: str) -> str:
    """What can be read off a wrong gradient."""
    if all(figure.verdict is not Verdict.FAIL for figure in ledger.figures[name]):
        return ""
    ways = (wrong_regions, displaced, wrong_pairs)
    return next(filter(None, (way(bench, attention, ledger, name) for way in ways)), "")
