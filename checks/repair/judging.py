"""Whether checks find nothing wrong any more: they are ended at the first thing that is."""

from __future__ import annotations

from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.faults import Fault
from judge_tui.checks.verdict import Verdict

__all__ = ["passes"]


class _Breach(BaseException):
    """Something is wrong: enough is known. No check catches it."""


class _Impatient(Findings):
    """Findings that end a check at the first thing that is wrong."""

    def claim(self, quantity: str, ok: bool, *, otherwise: Verdict = Verdict.FAIL, **told: Any) -> bool:
        """Decide by a statement that holds or not."""
        if not ok and otherwise is Verdict.FAIL:
            raise _Breach
        return super().claim(quantity, ok, otherwise=otherwise, **told)

    def conclude(self, verdict: Verdict) -> None:
        """Add a verdict that no single figure carries."""
        if verdict is Verdict.FAIL:
            raise _Breach
        super().conclude(verdict)


def passes(check: Check, bench: Bench) -> bool:
    """Whether a check finds nothing wrong, a warning aside.

    Args:
        check: The check.
        bench: Of what is judged.
    """
    found = _Impatient()
    bench.begin(check.id, check.budget)
    try:
        for role in check.roles:
            if role not in check.spared:
                bench.binding(role)
        with np.errstate(all="ignore"):
            check.body(bench, found)
    except (_Breach, Fault, JudgeError):
        return False
    except Exception:
        # the engine broke on what an edit gives; that is no repair either
        return False
    return found.verdict in (Verdict.PASS, Verdict.WARN)
