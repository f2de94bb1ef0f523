"""Whether checks find nothing wrong any more: they are ended at the first thing that is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from judge_tui.checks.answers import Answer
from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.edited_bench import bench_of_edited
from judge_tui.checks.errors import JudgeError
from judge_tui.checks.faults import Fault
from judge_tui.checks.verdict import Verdict

__all__ = ["Quick", "passes"]


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


def _held(answer: Answer) -> None:
    if answer.fine is False:
        raise _Breach


def passes(check: Check, bench: Bench) -> bool:
    """Whether a check finds nothing wrong, a warning aside.

    Args:
        check: The check.
        bench: Of what is judged.
    """
    found = _Impatient()
    bench.begin(check.id, check.budget)
    bench.answers.ends = _held
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


class _Open(BaseException):
    """A process of its own is needed to go on. No check catches it."""


class _OneProcess(Bench):
    """A bench whose checks are ended where they ask for another process than the shared one."""

    @contextlib.contextmanager
    def fresh(self, *_args: Any, **_named: Any) -> Iterator[Worker]:
        """No such process.

        Raises:
            _Open: Always.
        """
        raise _Open
        yield


class Quick:
    """Judges edits of a submission one after another in one process, as far as that goes.

    Most edits mend nothing, and are wrong again at the first answers; that is seen without a process and a
    snapshot for each.

    Args:
        bench: Of the submission.
    """

    def __init__(self, bench: Bench) -> None:
        self._of = bench
        self._bench = bench_of_edited(bench, bench.submission, _OneProcess)

    def close(self) -> None:
        """End the process."""
        self._bench.close()

    def may_pass(self, check: Check, file: str, source: str) -> bool:
        """Whether a check finds nothing wrong, or asks for a process of its own before it does.

        Args:
            check: The check.
            file: The file that is edited.
            source: What it holds.
        """
        bench = bench_of_edited(self._of, self._of.submission, _OneProcess)
        before, self._bench = self._bench, bench
        bench.taking_over(before)
        before.close()
        try:
            bench.begin(check.id, check.budget)
            bench.worker.edit(file, source)
            return passes(check, bench)
        except _Open:
            return True
        except (Fault, JudgeError):
            return False
