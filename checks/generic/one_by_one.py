"""Running test functions and methods by calling them, where pytest is not installed."""

from __future__ import annotations

import contextlib
import time
from typing import Self

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Result, Target, Worker
from judge_tui.checks.faults import Fault, Raised
from judge_tui.checks.generic.found_tests import FoundTest
from judge_tui.checks.generic.scripts import run_script
from judge_tui.checks.generic.tested import NO_TIME, Ending, Tested, allowance, moved, of_fault

__all__ = ["CalledTests"]


class CalledTests(contextlib.ExitStack):
    """The process that tests are called in: a new one after one that a test ended.

    Args:
        bench: The submission's.
    """

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self._bench = bench
        self._worker: Worker | None = None
        self._set_up: set[tuple[Worker, str, str]] = set()
        self._scripts: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def run(self, test: FoundTest) -> Tested | None:
        """Call one test; one that takes a fixture cannot be.

        Returns:
            What came of it; ``None`` for what is not defined here, and for further tests of a script.
        """
        where = (test.file, test.line)
        if test.file in self._scripts:
            return None
        if test.needs:
            reason = f"needs the fixture '{test.needs[0]}', and pytest is not installed"
            return Tested(test.title, Ending.NOT_RUN, reason, 0.0, "", *where)
        if test.marked:
            reason = "a mark says when it is run, and pytest is not installed"
            return Tested(test.title, Ending.NOT_RUN, reason, 0.0, "", *where)
        if (budget := allowance(self._bench)) <= 0:
            return Tested(test.title, Ending.NOT_RUN, NO_TIME, 0.0, "", *where)
        started = time.perf_counter()
        try:
            result = self._called(test, budget)
        except Fault as fault:
            if isinstance(fault, Raised) and not self._is_loaded(test.file):
                if fault.kind == "SystemExit":
                    # A script that ends in exit() or unittest.main() without a guard.
                    self._scripts.add(test.file)
                    return run_script(self._bench, *where)
            elif isinstance(fault, Raised) and fault.kind == "AttributeError" and not fault.file:
                return None
            return of_fault(test.title, fault, *where)
        seconds = time.perf_counter() - started
        if result.tree.get("kind") == "bool" and result.tree.get("value") is False:
            return Tested(test.title, Ending.FAILED, "returned False", 0.0, result.printed, *where)
        return Tested(test.title, Ending.PASSED, "", seconds, result.printed, *where)

    def _is_loaded(self, file: str) -> bool:
        return self._worker is not None and file in self._worker.loaded

    def _called(self, test: FoundTest, budget: float) -> Result:
        if self._worker is None or not self._worker.alive:
            self._worker = moved(self.enter_context(self._bench.fresh()))
        worker = self._worker
        worker.load(test.file, budget=budget)
        owner, _, method = test.name.rpartition(".")
        if not owner:
            return worker.call(Target(test.file, test.name), kwargs=test.arguments, budget=budget)
        if test.class_before and (worker, test.file, owner) not in self._set_up:
            self._set_up.add((worker, test.file, owner))
            worker.call(Target(test.file, f"{owner}.{test.class_before}"), budget=budget)
        if test.unittest:
            instance = worker.call(Target(test.file, owner), [method], budget=budget).handle
            return worker.call(instance, method="debug", budget=budget)
        instance = worker.call(Target(test.file, owner), budget=budget).handle
        for name in test.before:
            worker.call(instance, method=name, budget=budget)
        return worker.call(instance, kwargs=test.arguments, method=method, budget=budget)
