"""What pytest reports of one test, kept until the next; evidence, as all that a submission's process says."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .capture import sendable
from .tampering import Tampering

__all__ = ["Record", "Told", "function_of"]

_LONGEST = 500
_MOST_REPLACED = 20
Told = Callable[[BaseException], dict[str, Any]]


class Record:
    """A plug-in that keeps what pytest reports, until it is cleared.

    Args:
        told: Describes an exception for the trusted side.
        tampering: What decides a test, as it was before anything of the submission ran.

    Attributes:
        functions: Item, by identity → the function that was collected for it.
    """

    __slots__ = ("_called", "_error", "_reports", "_returned", "_tampering", "_told", "_unfit", "functions")

    def __init__(self, told: Told, tampering: Tampering) -> None:
        self._told = told
        self._tampering = tampering
        self.functions: dict[int, Any] = {}
        self.clear()

    def clear(self) -> None:
        """Forget the last test."""
        self._reports: list[Any] = []
        self._error: BaseException | None = None
        self._returned: Any = None
        self._unfit = ""
        self._called: set[str] = set()

    def replaced(self) -> list[str]:
        """Names of what was another before, while or after the last test was called."""
        return sorted({*self._called, *self._tampering.found()})[:_MOST_REPLACED]

    def pytest_collectreport(self, report: Any) -> None:
        """Keep what came of collecting a module or class."""
        self._reports.append(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep what came of a test's set-up, call or tear-down."""
        self._reports.append(report)

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        """Keep the first exception."""
        self._error = self._error or call.excinfo.value

    def pytest_runtest_call(self, item: Any) -> None:
        """Look, once its fixtures are set up, whether what will be called is what was collected."""
        self._called.update(self._tampering.found())
        own = vars(case) if (case := getattr(item, "_testcase", None)) is not None else {}
        if own.keys() & {"run", "__call__", item.name}:
            self._called.add("the method of the test")
        if item.obj is not None and function_of(item) is not self.functions.get(id(item)):
            self._called.add("the function of the test")

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool:
        """Call a test function; keep what it returns, which pytest would only warn of."""
        function = pyfuncitem.obj
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            self._unfit = "it is asynchronous, which needs a plug-in of pytest"
            return True
        names: Sequence[str] = pyfuncitem._fixtureinfo.argnames
        self._returned = function(**{name: pyfuncitem.funcargs[name] for name in names})
        return True

    def of_collection(self) -> dict[str, Any]:
        """What went wrong while a file was collected."""
        if self._error is not None:
            return {"error": self._told(_from_submission(self._error))}
        skipped = [report for report in self._reports if report.skipped]
        return {"skipped": _reason(skipped[0])} if skipped else {}

    def of_test(self) -> dict[str, Any]:
        """What came of a test, tear-down included."""
        fixture = getattr(self._error, "argname", None)
        if fixture and type(self._error).__name__ == "FixtureLookupError":
            return {"outcome": "unfit", "reason": sendable(f"needs the fixture '{fixture}'")}
        failed = [report for report in self._reports if report.failed]
        if failed:
            told = {"message": sendable(str(failed[0].longrepr)[:_LONGEST]), "type": "Failed"}
            return {
                "outcome": "failed",
                "reason": failed[0].when or "",
                "error": self._told(_from_submission(self._error)) if self._error else told,
            }
        if self._unfit:
            return {"outcome": "unfit", "reason": self._unfit}
        for report in self._reports:
            if hasattr(report, "wasxfail"):
                outcome = "xfailed" if report.skipped else "passed"
                return {
                    "outcome": outcome,
                    "reason": sendable(str(report.wasxfail).removeprefix("reason: ")[:_LONGEST]),
                }
            if report.skipped:
                return {"outcome": "skipped", "reason": _reason(report)}
        if isinstance(self._returned, (bool, np.bool_)) and not self._returned:
            return {"outcome": "failed", "error": {"type": "", "message": "returned False"}}
        return {"outcome": "passed"}


def function_of(item: Any) -> Any:
    """What an item calls, without the instance that it is called on."""
    return getattr(getattr(item, "obj", None), "__func__", getattr(item, "obj", None))


def _from_submission(error: BaseException) -> BaseException:
    """The exception without pytest's frames above those of the submission."""
    trace = error.__traceback__
    while trace is not None and _ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return error.with_traceback(trace) if trace is not None else error


def _ours(filename: str) -> bool:
    path = Path(filename)
    foreign = {"_pytest", "pluggy", "unittest", "importlib"} & set(path.parts)
    return bool(foreign) or filename.startswith("<frozen ") or path.parent == Path(__file__).parent


def _reason(report: Any) -> str:
    """Why a test was skipped, as its report says."""
    found = report.longrepr
    text = str(found[2] if isinstance(found, tuple) else found).removeprefix("Skipped: ")
    return sendable(text[:_LONGEST])
