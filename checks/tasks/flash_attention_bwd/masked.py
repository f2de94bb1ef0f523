"""Whether rows that see no key have gradients of 0, and leave the others alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Raised
from judge_tui.checks.precision import Lowered
from judge_tui.checks.tasks.flash_attention_bwd.blind import Blind, blinded, in_single
from judge_tui.checks.tasks.flash_attention_bwd.gate import wholly_wrong
from judge_tui.checks.tasks.flash_attention_bwd.held import Figure, Ledger, told
from judge_tui.checks.tasks.flash_attention_bwd.lowered import lower_precision
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import NAMES, Gradients, gradients
from judge_tui.checks.verdict import Verdict

__all__ = ["masked_rows"]

_REFUSED = frozenset({"ValueError", "FloatingPointError", "AssertionError", "OverflowError"})
#: Past this relative error per head there is no answer at all.
_NO_ANSWER = 0.9
_NOTE = (
    "Square causal attention has no such row while its scores are finite: "
    "queries of 1e200 against keys of -1e120 reach them."
)


@check(
    "masked_rows",
    "rows that see no key",
    establishes="Rows whose every score is -inf get dQ = 0 and add nothing to dK and dV; others are right.",
    roles=("forward", "backward"),
    version=3,
)
def masked_rows(bench: Bench, found: Findings) -> str:
    """Make rows, heads and whole calls blind by finite overflow; hold every gradient against the truth."""
    attention = Attention(bench)
    dtype = np.float32 if in_single(bench, attention) else np.float64
    tally = _Tally()
    for blind in blinded(bench, attention, dtype):
        try:
            made = attention(blind.given)
        except Raised as fault:
            if fault.kind not in _REFUSED:
                raise
            tally.refused = tally.refused or fault.placed
            continue
        tally.add(attention, blind, made)
    return tally.decide(attention, found)


@dataclass(slots=True)
class _Tally:
    """What the calls gave.

    Attributes:
        ledger: All of them against the truth.
        broken: Calls with NaN or infinity, by how many entries of each gradient.
        wrong: Finite calls that are wrong, with their worst figure.
        leaking: Such calls under the causal mask alone.
        elsewhere: Calls that are as wrong where every row sees a key.
        broken_anyway: Whether the first of the broken calls is broken too where every row sees a key.
        refused: How a call refused its input.
    """

    ledger: Ledger = field(default_factory=Ledger)
    broken: list[tuple[Blind, dict[str, int]]] = field(default_factory=list)
    wrong: list[tuple[Blind, Figure]] = field(default_factory=list)
    leaking: list[tuple[Blind, Figure]] = field(default_factory=list)
    elsewhere: list[tuple[Blind, Figure]] = field(default_factory=list)
    broken_anyway: bool = False
    refused: str = ""
    clean: float = 0.0
    count: int = 0

    def add(self, attention: Attention, blind: Blind, made: Gradients) -> None:
        """Hold one answer."""
        self.count += 1
        odd = _odd(made)
        if any(odd.values()):
            if not self.broken:
                self.broken_anyway = any(_odd(attention(blind.clean)).values())
            self.broken.append((blind, odd))
            return
        figures = self.ledger.hold(blind.clean, blind.comparable(made))
        worst = max(figures, key=lambda figure: figure.badness)
        if worst.verdict is not Verdict.FAIL:
            return
        again = attention(blind.clean)
        self.clean = max(
            self.clean, wholly_wrong(gradients(blind.clean), again), key=lambda e: np.inf if e != e else e
        )
        if max(Ledger().hold(blind.clean, again), key=lambda f: f.badness).verdict is Verdict.FAIL:
            self.elsewhere.append((blind, worst))
        elif blind.given.case.causal:
            self.leaking.append((blind, worst))
        else:
            self.wrong.append((blind, worst))

    def decide(self, attention: Attention, found: Findings) -> str:
        """Note it all, and tell what decided."""
        place = attention.place
        table = (
            ("call", *(f"not finite in {name}" for name in NAMES)),
            *((str(b.given), *(str(odd[name]) for name in NAMES)) for b, odd in self.broken),
        )
        if self.count:
            found.claim(
                "calls with NaN or infinity in a gradient",
                not self.broken,
                measured=len(self.broken),
                limit=0,
                unit=f"of {self.count}",
                table=table if self.broken else (),
                note=_NOTE,
                **(place if self.broken else {}),
            )
        for wrong, quantity, verdict in (
            (self.wrong, "gradients where rows see no key, relative error per row", Verdict.FAIL),
            (
                self.leaking,
                "gradients where causal rows see only keys of -inf, relative error per row",
                Verdict.WARN,
            ),
            (self.elsewhere, "gradients that are as wrong where every row sees a key", Verdict.WARN),
        ):
            for _blind, figure in wrong[:1]:
                found.limit(
                    f"{figure.name}, {quantity}",
                    figure.error,
                    figure.most,
                    otherwise=verdict,
                    note=f"worst: {told(figure)}",
                    **place,
                )
        if self.elsewhere:
            found.limit(
                "gradients of the same calls without blind rows, relative error per head",
                self.clean,
                _NO_ANSWER,
                note="Coarse: that there is an answer at all.",
                **place,
            )
        if self.refused:
            found.claim(
                "input whose scores overflow is taken",
                False,
                measured=self.refused,
                otherwise=Verdict.WARN,
                note=_NOTE,
                **place,
            )
        lower = lower_precision(attention) if self.broken or self.elsewhere else None
        return self._summary(lower)

    def _summary(self, lower: Lowered | None) -> str:
        why = lower.text if lower is not None else ""
        if self.broken:
            blind, odd = self.broken[0]
            names = ", ".join(name for name in NAMES if odd[name])
            beside = f"; {'so too' if self.broken_anyway else 'finite'} where every row sees one"
            largest = float(np.abs(blind.given.case.q).max())
            if lower is not None and not self.broken_anyway and largest > lower.largest:
                beside = f": their scores come of {largest:.0e}, which {lower.type} does not hold"
            return (
                f"{names} NaN or infinite in {len(self.broken)} of {self.count} calls "
                f"with rows that see no key ({blind.given}){beside}{why and f'; elsewhere {why}'}"
            )
        if self.wrong:
            blind, figure = self.wrong[0]
            return f"{figure.name} is {figure.error:.2g} off where rows see no key ({blind.given})"
        if self.leaking:
            blind, figure = self.leaking[0]
            spread = f"causal rows that see only -inf keys spread over masked keys: {figure.name} is not 0"
            return f"{spread} ({blind.given})"
        if self.elsewhere:
            if self.clean <= _NO_ANSWER:
                told = "finite, but as wrong where every row sees a key: not by the blind rows"
                return f"{told}{why and f'; {why}'}"
            return f"as wrong without rows that see no key: {self.clean:.2g} off where every row sees one"
        if not self.count:
            return f"refuses input whose scores overflow: {self.refused}"
        worst = self.ledger.worst()
        others = f"the others {worst.error:.1e} off (limit {worst.most:.0e})"
        return f"finite in {self.count} calls, 0 in rows that see no key, {others}"


def _odd(made: Gradients) -> dict[str, int]:
    """Entries of each gradient that are not finite."""
    return {name: int(np.size(made[name]) - np.isfinite(made[name]).sum()) for name in NAMES}
