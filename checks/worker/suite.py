"""A submission's tests as pytest runs them: collected by file, then run one per request.

pytest is imported here alone, and only when a check asks for tests. It is told nothing by
the submission's configuration files and loads no plug-in but conftest files. What comes out is
the submission's own word about itself: evidence.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import inspect
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import numpy as np

from .capture import sendable
from .load import PACKAGE, Library

__all__ = ["Suite"]

_OPTIONS = (
    *("-c", os.devnull, "--noconftest", "--assert=plain", "--capture=no", "--import-mode=importlib"),
    *(
        f"-pno:{name}"
        for name in (
            *("cacheprovider", "faulthandler", "pastebin", "stepwise", "terminal"),
            *("threadexception", "unraisableexception"),
        )
    ),
)
_LONGEST = 500
_Told = Callable[[BaseException], dict[str, Any]]


class Suite:
    """A pytest session over one submission.

    Args:
        library: The submission's modules; they are imported as everywhere else.
        told: Describes an exception for the trusted side.

    Raises:
        ImportError: pytest is not installed.
    """

    def __init__(self, library: Library, told: _Told) -> None:
        import pytest
        from _pytest._io import TerminalWriter
        from _pytest.config import _prepareconfig

        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
            os.environ.pop(name, None)
        sys.meta_path.append(_PlainNames(library))
        # Where packages that are not installed keep their code.
        sys.path.append(str(library.root / "src"))
        self._library = library
        self._record = _Record(told)
        self._folders: dict[Path, Any] = {}
        self._items: list[Any] = []
        plugins: list[Any] = [self._record]
        if (library.root / "conftest.py").is_file():
            plugins.append(self._module("conftest.py"))
        root = str(library.root)
        self._config = _prepareconfig([*_OPTIONS, "--rootdir", root, root], plugins)
        self._config.pluginmanager.register(_NoTerminal(TerminalWriter(io.StringIO())), "terminalreporter")
        # Of the plug-in that is left out; pytest 8 reads it where it explains a failed assertion.
        vars(self._config.option).setdefault("verbose", 0)
        self._config._do_configure()
        self._session = pytest.Session.from_config(self._config)
        self._config.hook.pytest_sessionstart(session=self._session)

    def collect(self, file: str) -> dict[str, Any]:
        """Collect the tests of a file.

        Args:
            file: Path relative to the submission's folder.

        Returns:
            ``tests`` (id and line of each), and where it failed ``error``, or ``skipped`` with the reason.
        """
        self._record.clear()
        items = list(self._session.genitems(self._node(file)))
        self._config.hook.pytest_collection_modifyitems(
            session=self._session, config=self._config, items=items
        )
        self._session.items = self._items = items
        self._session.testscollected = len(items)
        self._config.hook.pytest_collection_finish(session=self._session)
        tests = [{"id": sendable(item.nodeid), "line": (item.location[1] or 0) + 1} for item in items]
        return {"tests": tests, **self._record.of_collection()}

    def run(self, index: int) -> dict[str, Any]:
        """Run one of the tests that were collected last.

        Args:
            index: Which; they are to be run in their order.

        Returns:
            ``outcome`` (``passed``, ``failed``, ``skipped``, ``xfailed``, ``unfit``), ``reason``, ``error``.
        """
        self._record.clear()
        following = self._items[index + 1] if index + 1 < len(self._items) else None
        self._config.hook.pytest_runtest_protocol(item=self._items[index], nextitem=following)
        return self._record.of_test()

    def _node(self, file: str) -> Any:
        """The file's node, below one for each folder that it lies in."""
        import pytest

        parent: Any = self._session
        folder = self._library.root
        for part in PurePosixPath(file).parent.parts:
            folder /= part
            if folder not in self._folders:
                self._folders[folder] = self._folder(parent, folder)
            parent = self._folders[folder]
        load = self._module

        class OwnModule(pytest.Module):
            """A module that is imported as the submission's others are."""

            def _getobj(self) -> ModuleType:
                return load(file)

        return OwnModule.from_parent(parent, path=self._library.root / file)

    def _folder(self, parent: Any, path: Path) -> Any:
        """A folder's node; the fixtures and hooks of its conftest file are taken up with it.

        pytest tells by the plug-in's name where fixtures count, from 9.1 on when it collects the folder.
        """
        import pytest

        class Folder(pytest.Directory):
            """A folder whose files are not looked for."""

            def collect(self) -> Sequence[Any]:
                return ()

        conftest = path / "conftest.py"
        if conftest.is_file():
            module = self._module(conftest.relative_to(self._library.root).as_posix())
            self._config.pluginmanager.register(module, str(conftest))
        folder = Folder.from_parent(parent, path=path)
        folder.ihook.pytest_make_collect_report(collector=folder)
        return folder

    def _module(self, file: str) -> ModuleType:
        """Import a file; what its assertions compared will be told when they fail."""
        from _pytest.assertion.rewrite import rewrite_asserts

        self._library.transforms[str(self._library.root / file)] = rewrite_asserts
        return self._library.module(file)


class _Record:
    """A plug-in that keeps what pytest reports, until it is cleared."""

    def __init__(self, told: _Told) -> None:
        self._told = told
        self.clear()

    def clear(self) -> None:
        """Forget the last test."""
        self._reports: list[Any] = []
        self._error: BaseException | None = None
        self._returned: Any = None
        self._unfit = ""

    def pytest_collectreport(self, report: Any) -> None:
        """Keep what came of collecting a module or class."""
        self._reports.append(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep what came of a test's set-up, call or tear-down."""
        self._reports.append(report)

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        """Keep the first exception."""
        self._error = self._error or call.excinfo.value

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


class _NoTerminal:
    """What pytest asks for how to lay out what it compares: plainly.

    Args:
        writer: A terminal writer that leads nowhere.
    """

    def __init__(self, writer: Any) -> None:
        self._tw = writer


class _PlainNames(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the submission's modules by their plain names where no installed module has the name.

    ``mock.patch("layer_norm.eps")`` imports past the submission's own ``__import__`` and must meet the
    module that the tests use, not a copy of it.
    """

    def __init__(self, library: Library) -> None:
        self._library = library
        self._specs: dict[str, Any] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a name (the import system calls this)."""
        if fullname.startswith(PACKAGE) or not self._library.find_spec(f"{PACKAGE}.{fullname}"):
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """The module under its full name."""
        module = importlib.import_module(f"{PACKAGE}.{spec.name}")
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """It has run; only its spec is put back."""
        assert module.__spec__ is not None
        module.__spec__ = self._specs.pop(module.__spec__.name)


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
