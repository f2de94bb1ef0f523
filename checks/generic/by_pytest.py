"""Running a submission's test files with pytest in its sandbox, one test per request.

A test that hangs or ends the process takes nothing else with it: the next process collects the
file again and goes on behind it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import msgspec

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import BadResult, Fault, Raised
from judge_tui.checks.generic.hooks import Hook
from judge_tui.checks.generic.scripts import run_script
from judge_tui.checks.generic.tested import IMPORT, NO_TIME, Ending, Tested, allowance, moved, of_fault
from judge_tui.checks.typed import converted

__all__ = ["PytestRuns", "WithoutPytestError"]

_OUTPUT = 8000
#: Replaced functions that are told of one test.
_NAMED = 3


class WithoutPytestError(Exception):
    """pytest cannot be used in the sandbox; the message says why."""


class _Collected(msgspec.Struct):
    """A test as the worker tells of it."""

    id: str
    line: int = 0
    marked: bool = False


class _Error(msgspec.Struct):
    """An exception as the worker tells of it."""

    type: str = ""
    message: str = ""
    file: str | None = None
    line: int | None = None
    traceback: str = ""

    def fault(self, printed: str) -> Raised:
        """The same as a fault."""
        output = f"{printed[-_OUTPUT:]}\n{self.traceback}".strip()
        return Raised(self.type, self.message, file=self.file, line=self.line, output=output)


class _Collection(msgspec.Struct):
    """What the worker says of collecting a file."""

    tests: list[_Collected] = []
    hooks: list[tuple[str, int, str]] = []
    skipped: str | None = None
    error: _Error | None = None
    without: _Error | None = None
    printed: str = ""


class _Ran(msgspec.Struct):
    """What the worker says of a test; evidence, as all that a submission says of itself."""

    outcome: str
    reason: str = ""
    error: _Error | None = None
    printed: str = ""
    replaced: list[str] = []


_WITHOUT_ERROR = {
    "passed": Ending.PASSED,
    "skipped": Ending.SKIPPED,
    "xfailed": Ending.EXPECTED,
    "unfit": Ending.NOT_RUN,
}


class PytestRuns(contextlib.ExitStack):
    """The processes that tests run in: a new one after one that a test ended.

    Args:
        bench: The submission's.
        lines: Title of a test without its parameters → 1-based line.
        hooks: Whether hooks of the submission's that can decide are called.
        leaving_out: Titles of tests that are not run.

    Attributes:
        hooks: Those hooks, as far as the process tells of them.
    """

    def __init__(
        self,
        bench: Bench,
        lines: Mapping[str, int],
        *,
        hooks: bool = True,
        leaving_out: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__()
        self.hooks: list[Hook] = []
        self._with_hooks = hooks
        self._leaving_out = leaving_out
        self._bench = bench
        self._lines = lines
        self._worker: Worker | None = None
        self._said = ""

    def __enter__(self) -> Self:
        return self

    def file(self, file: str) -> Iterator[Tested]:
        """Run the tests of a file.

        Args:
            file: Path relative to the submission's folder.

        Raises:
            WithoutPytestError: Before anything ran.
        """
        known: Sequence[_Collected] = ()
        done: set[str] = set()
        while True:
            if allowance(self._bench) <= 0:
                left = [test for test in known if test.id not in done]
                yield from (self._not_run(file, test) for test in left)
                if not known:
                    yield Tested(f"{file}: its tests", Ending.NOT_RUN, NO_TIME, file=file, line=1)
                return
            known = yield from self._collected(file)
            for index, test in enumerate(known):
                if test.id not in done and self._title(file, test) not in self._leaving_out:
                    done.add(test.id)
                    self._bench.progress(self._title(file, test), index / len(known))
                    yield self._run(file, index, test)
                    if self._worker is None or not self._worker.alive:
                        break
            else:
                return

    def _collected(self, file: str) -> Generator[Tested, None, Sequence[_Collected]]:
        """The tests of a file; where it cannot be imported, what came of that instead."""
        title = f"{file}{IMPORT}"
        try:
            reply: _Collection = self._ask(_Collection, "collect", file=file, hooks=self._with_hooks)
        except Raised as fault:
            self._discard()
            if fault.kind == "SystemExit":
                # A script that ends in exit() or unittest.main() without a guard.
                yield run_script(self._bench, file, 1)
            else:
                yield of_fault(title, fault, file, 1)
            return ()
        except Fault as fault:
            yield of_fault(title, fault, file, 1)
            return ()
        if (without := reply.without) is not None:
            if not without.file:
                raise WithoutPytestError(without.message)
            self._discard()
            yield of_fault(f"{without.file}{IMPORT}", without.fault(reply.printed), file, 1)
        elif reply.error is not None:
            yield of_fault(title, reply.error.fault(reply.printed), file, 1)
        elif reply.skipped is not None and not reply.tests:
            yield Tested(title, Ending.SKIPPED, f"it skips itself ({reply.skipped})", file=file, line=1)
        self._said = reply.printed
        self.hooks += [hook for hook in reply.hooks if hook not in self.hooks]
        return reply.tests

    def _run(self, file: str, index: int, test: _Collected) -> Tested:
        title, line = self._title(file, test), self._line(file, test)
        if allowance(self._bench) <= 0:
            return self._not_run(file, test)
        started = time.perf_counter()
        try:
            reply: _Ran = self._ask(_Ran, "test", index=index)
        except Fault as fault:
            self._discard()
            return replace(of_fault(title, fault, file, line), marked=test.marked)
        seconds = time.perf_counter() - started
        # What a file prints when it is imported goes with its first test.
        printed, self._said = self._said + reply.printed, ""
        if reply.error is not None:
            return replace(of_fault(title, reply.error.fault(printed), file, line), marked=test.marked)
        ending = _WITHOUT_ERROR.get(reply.outcome, Ending.FAILED)
        told = f"it skips itself ({reply.reason})" if ending is Ending.SKIPPED else reply.reason
        if reply.replaced and ending is not Ending.FAILED:
            told = f"{ending}, with what decides that replaced ({', '.join(reply.replaced[:_NAMED])})"
            ending = Ending.OWN_RULES
        return Tested(title, ending, told, seconds, printed, file, line, test.marked)

    def _ask(self, kind: type[Any], op: str, **body: Any) -> Any:
        """Ask the worker, and read its reply as what it must be."""
        if self._worker is None or not self._worker.alive:
            self._worker = moved(self.enter_context(self._bench.fresh()))
        reply = self._worker.ask(op, budget=allowance(self._bench), **body)
        try:
            return converted(reply, kind)
        except msgspec.ValidationError as error:
            raise BadResult(f"the worker's reply is malformed ({error})") from error

    def _discard(self) -> None:
        """Use this process no more: whatever left the test may have left pytest in the middle of it."""
        if self._worker is not None:
            self._worker.close()

    def _not_run(self, file: str, test: _Collected) -> Tested:
        line = self._line(file, test)
        return Tested(self._title(file, test), Ending.NOT_RUN, NO_TIME, file=file, line=line)

    def _line(self, file: str, test: _Collected) -> int | None:
        return self._lines.get(self._title(file, test).partition("[")[0]) or test.line or None

    @staticmethod
    def _title(file: str, test: _Collected) -> str:
        """``test_a.py: TestCase.test_b[3-4]`` of ``test_a.py::TestCase::test_b[3-4]``."""
        name, bracket, arguments = test.id.removeprefix(f"{file}::").partition("[")
        return f"{file}: {name.replace('::', '.')}{bracket}{arguments}"
