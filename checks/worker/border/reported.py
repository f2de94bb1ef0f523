"""What pytest tells of a test, and of collecting a file, in plain data for the engine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..capture import sendable
from ..raising import named
from .gathering import place_in

__all__ = ["Reported"]

_TEXT, _OUTPUT = 4_000, 20_000
_LACKS = re.compile(r"cannot import name '(\w+)'|No module named '(submission\.[\w.]+)'")
_AUTHORS = (NameError, ImportError, SyntaxError)


class Reported:
    """A plug-in that keeps what pytest reports, until it is cleared.

    Args:
        root: The challenge's folder.
        asks: How many asks went over the border so far.
    """

    def __init__(self, root: Path, asks: Callable[[], int] = lambda: 0) -> None:
        self._root = root
        self._asks = asks
        self.clear()

    def clear(self) -> None:
        """Forget the last test."""
        self._reports: list[Any] = []
        self._errors: list[tuple[str, BaseException]] = []
        self._waits = False
        self._began = self._asks()
        self._asked: dict[str, int] = {}

    def pytest_collectreport(self, report: Any) -> None:
        """Keep what came of collecting a module or class."""
        self._reports.append(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep what came of a test's set-up, call or tear-down."""
        self._reports.append(report)
        self._asked[report.when] = self._asks() - self._began
        self._began = self._asks()

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        """Keep the exceptions."""
        error = call.excinfo.value
        while type(error).__name__ == "CollectError" and error.__cause__ is not None:
            error = error.__cause__
        self._errors.append((str(call.when), error))

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
        """Leave alone what would have to be awaited."""
        import inspect

        function = pyfuncitem.obj
        self._waits = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
        return True if self._waits else None

    def of_collection(self) -> dict[str, Any]:
        """What went wrong while a file was collected: ``fault``, where; ``skipped`` with the reason."""
        if self._errors:
            return self.of_error(self._errors[0][1])
        failed = next((report for report in self._reports if report.failed), None)
        if failed is not None:
            return {"fault": sendable(str(failed.longrepr)[:_TEXT]), "type": "CollectError"}
        skipped = next((report for report in self._reports if report.skipped), None)
        return {} if skipped is None else {"skipped": _reason(skipped)}

    def of_error(self, error: BaseException) -> dict[str, Any]:
        """An exception of the author's code."""
        file, line = place_in(self._root, error)
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        return {
            "fault": sendable(_said(error)[:_TEXT]),
            "type": named(type(error)),
            "fault_file": file,
            "line": line,
            "missing": sendable(str(missing)) if missing else "",
            "lacks": _lacking(error),
        }

    def of_test(self) -> dict[str, Any]:
        """What came of a test, tear-down included."""
        # The last report has what was printed before it as well.
        printed = "\n".join(text for report in self._reports[-1:] for _name, text in report.sections)
        told = {"printed": sendable(printed[-_OUTPUT:])}
        if self._waits:
            return {**told, "ending": "unfit", "said": "it is asynchronous, and an event loop does not cross"}
        failed = next((report for report in self._reports if report.failed), None)
        if failed is not None:
            error = next((error for when, error in self._errors if when == failed.when), None)
            return {**told, **self._of_failure(failed, error)}
        for report in self._reports:
            if hasattr(report, "wasxfail"):
                ending = "expected" if report.skipped else "passed"
                return {**told, "ending": ending, "said": sendable(str(report.wasxfail)[:_TEXT])}
            if report.skipped:
                return {**told, "ending": "skipped", "said": _reason(report)}
        return {**told, "ending": "passed"}

    def _of_failure(self, report: Any, error: BaseException | None) -> dict[str, Any]:
        told: dict[str, Any] = {"when": str(report.when), "trace": sendable(self._shown(report)[-_OUTPUT:])}
        if error is None:
            return {**told, "ending": "failed", "said": sendable(str(report.longrepr)[:_TEXT])}
        file, line = place_in(self._root, error)
        told |= {"test_file": file, "test_line": line, "type": named(type(error))}
        said = sendable(_said(error)[:_TEXT])
        if (place := vars(error).get("__judge_place__")) is not None:
            told |= {"file": place[0], "line": place[1], "their_trace": place[2]}
            return {**told, "ending": "raised", "said": said}
        if type(error).__name__ == "FixtureLookupError":
            told["type"] = ""
        if isinstance(error, _AUTHORS) or self._is_authors(report, error):
            return {**told, "ending": "broken", "said": said}
        return {**told, "ending": "failed", "said": said}

    def _shown(self, report: Any) -> str:
        """A report as pytest shows it, paths as the author knows them."""
        return _text_of(report).replace(f"{self._root}{os.sep}", "")

    def _is_authors(self, report: Any, error: BaseException) -> bool:
        """Whether nothing of the submission's came into what raised: then it is the author's fault."""
        if type(error).__name__ == "FixtureLookupError":
            return True
        if report.when == "setup":
            return not self._asked.get("setup")
        decided = isinstance(error, AssertionError) or type(error).__name__ == "Failed"
        return not decided and not self._asked.get(report.when) and not self._asked.get("setup")


def _said(error: BaseException) -> str:
    if type(error).__name__ == "FixtureLookupError":
        return f"no fixture '{error.argname}'"  # type: ignore[attr-defined]
    try:
        return str(error)
    except Exception:
        return "(its text cannot be read)"


def _text_of(report: Any) -> str:
    try:
        return str(report.longreprtext)
    except Exception:
        return ""


def _lacking(error: BaseException) -> str:
    """The name that the submission has not, where a test imports one."""
    named = str(getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ImportError) or named != "submission":
        return ""
    found = _LACKS.search(str(error))
    return sendable(next(filter(None, found.groups()), "")) if found else ""


def _reason(report: Any) -> str:
    """Why a test was skipped, as its report says."""
    found = report.longrepr
    text = str(found[2] if isinstance(found, tuple) else found).removeprefix("Skipped: ")
    return sendable(text[:_TEXT])
