"""The submission's own tests, run in the sandbox."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.faults import Fault, Raised, Skipped, TimedOut
from judge_tui.checks.generic.found_tests import FoundTest, found_tests
from judge_tui.checks.remote import Result, Target, Worker
from judge_tui.checks.verdict import Verdict

__all__ = ["own_tests"]

_EACH = 60.0
#: Passing tests whose output is kept.
_OUTPUTS = 40
#: What a test raises to say that it does not apply.
_SAID = frozenset({"SkipTest", "Skipped"})


@check(
    "own_tests",
    "its own tests",
    establishes="How many of the submission's own tests, or its main script, pass in the sandbox.",
    version=2,
    budget=180,
)
def own_tests(bench: Bench, found: Findings) -> str:
    """Run test functions and methods, else main scripts, in a process that no other check uses."""
    tests = found_tests(bench.submission)
    if not tests:
        raise Skipped("it has no test function and no main script")
    counts = {"passed": 0, "failed": 0, "timed out": 0, "not run": 0}
    started = time.monotonic()
    with _Processes(bench) as processes:
        for index, test in enumerate(tests):
            bench.progress(f"{test.title} ({index + 1} of {len(tests)})", index / len(tests))
            counts[_run(bench, found, test, processes, quiet=index >= _OUTPUTS)] += 1
    what = "test" if tests[0].name else "script"
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"{len(tests)} {what}{'s' * (len(tests) != 1)}: {told} in {time.monotonic() - started:.1f} s"


class _Processes:
    """The process that tests run in: a new one after one that a test ended, and one for every script."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._stack = contextlib.ExitStack()
        self._worker: Worker | None = None
        self._set_up: set[tuple[Worker, str, str]] = set()

    def __enter__(self) -> _Processes:
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def run(self, test: FoundTest, budget: float) -> Result:
        if not test.name:
            with self._bench.fresh() as alone:
                return alone.run_script(test.file, budget=budget)
        if self._worker is None or not self._worker.alive:
            self._worker = self._stack.enter_context(self._bench.fresh())
        worker = self._worker
        owner, _, method = test.name.rpartition(".")
        if not owner:
            return worker.call(Target(test.file, test.name), kwargs=test.arguments, budget=budget)
        self._class_set_up(worker, test, owner, budget)
        if test.unittest:
            instance = worker.call(Target(test.file, owner), [method], budget=budget).handle
            return worker.call(instance, method="debug", budget=budget)
        instance = worker.call(Target(test.file, owner), budget=budget).handle
        for name in test.before:
            worker.call(instance, method=name, budget=budget)
        return worker.call(instance, kwargs=test.arguments, method=method, budget=budget)

    def _class_set_up(self, worker: Worker, test: FoundTest, owner: str, budget: float) -> None:
        if test.class_before and (worker, test.file, owner) not in self._set_up:
            self._set_up.add((worker, test.file, owner))
            worker.call(Target(test.file, f"{owner}.{test.class_before}"), budget=budget)


def _run(bench: Bench, found: Findings, test: FoundTest, processes: _Processes, *, quiet: bool) -> str:
    where: dict[str, Any] = {"file": test.file, "line": test.line}

    def not_run(reason: str, output: str = "") -> str:
        found.claim(
            test.title, False, measured=f"not run: {reason}", otherwise=Verdict.WARN, output=output, **where
        )
        return "not run"

    if test.needs:
        return not_run(f"needs the fixture '{test.needs[0]}'")
    # The last share of the time is for telling what happened.
    budget = min(_EACH, bench.budget / 3, bench.left - bench.budget / 20)
    if budget <= 0:
        return not_run("the time for all tests ran out")
    try:
        result = processes.run(test, budget)
    except TimedOut as fault:
        found.claim(test.title, False, measured=fault.message, otherwise=Verdict.WARN, **where)
        return "timed out"
    except Fault as fault:
        if reason := _excuse(fault):
            return not_run(reason, fault.output)
        here = {"file": fault.file, "line": fault.line} if fault.file and fault.line else where
        found.claim(test.title, False, measured=_told(fault), output=fault.output, **here)
        return "failed"
    output = "" if quiet else result.printed[-4000:]
    if result.tree.get("kind") == "bool" and result.tree.get("value") is False:
        found.claim(test.title, False, measured="returned False", output=output, **where)
        return "failed"
    found.claim(test.title, True, measured=result.seconds, unit="s", output=output, **where)
    return "passed"


def _excuse(fault: Fault) -> str:
    """Why a test that raised says nothing about the submission; empty when it does."""
    if not isinstance(fault, Raised):
        return ""
    if fault.kind in _SAID:
        return f"it skips itself ({fault.detail})" if fault.detail else "it skips itself"
    if fault.kind == "ModuleNotFoundError":
        return fault.detail
    if fault.kind == "PermissionError" or (fault.kind == "OSError" and "Errno 30" in fault.detail):
        return f"the sandbox refuses what it does ({fault.detail})"
    return ""


def _told(fault: Fault) -> str:
    if isinstance(fault, Raised) and fault.kind == "SystemExit":
        return f"exited with status {fault.detail}" if fault.detail.isdigit() else f"exited: {fault.detail}"
    return fault.message
