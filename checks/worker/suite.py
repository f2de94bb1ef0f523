"""A submission's tests as pytest runs them: collected by file, then run one per request.

pytest is imported here alone, and only when a check asks for tests. It is told nothing by
the submission's configuration files and loads no plug-in but conftest files. What comes out is
the submission's own word about itself: evidence.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

from .capture import sendable
from .hooks import Hooks
from .load import PACKAGE, Library
from .record import Record, Told, function_of
from .tampering import Tampering

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
#: Marks that say nothing of whether a test is run, or expected to pass.
_PLAIN_MARKS = frozenset({"filterwarnings", "parametrize", "usefixtures"})


class Suite:
    """A pytest session over one submission.

    Args:
        library: The submission's modules; they are imported as everywhere else.
        told: Describes an exception for the trusted side.
        hooks: Whether hooks of the submission's that can decide what comes of a test are called.

    Raises:
        ImportError: pytest is not installed.
    """

    def __init__(self, library: Library, told: Told, *, hooks: bool = True) -> None:
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
        self._record = Record(told, Tampering(library.namespaces["numpy"], __package__ or ""))
        self._folders: dict[Path, Any] = {}
        self._items: list[Any] = []
        terminal = _NoTerminal(TerminalWriter(io.StringIO()))
        self._hooks = Hooks(library.root, used=hooks, ours=(self._record, terminal))
        plugins: list[Any] = [self._hooks, self._record]
        if (library.root / "conftest.py").is_file():
            plugins.append(self._module("conftest.py"))
        root = str(library.root)
        self._config = _prepareconfig([*_OPTIONS, "--rootdir", root, root], plugins)
        self._config.pluginmanager.register(terminal, "terminalreporter")
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
            ``tests`` (id, line, and whether a mark of its own says more of each), ``hooks`` (file, line and
            name of those that can decide), and where it failed ``error``, or ``skipped`` with the reason.
        """
        self._record.clear()
        items = list(self._session.genitems(self._node(file)))
        marked = {id(item): _is_marked(item) for item in items}
        self._record.functions = {id(item): function_of(item) for item in items}
        self._config.hook.pytest_collection_modifyitems(
            session=self._session, config=self._config, items=items
        )
        self._session.items = self._items = items
        self._session.testscollected = len(items)
        self._config.hook.pytest_collection_finish(session=self._session)
        tests = [
            {
                "id": sendable(item.nodeid),
                "line": (item.location[1] or 0) + 1,
                "marked": marked.get(id(item), False),
            }
            for item in items
        ]
        return {"tests": tests, "hooks": self._hooks.found, **self._record.of_collection()}

    def run(self, index: int) -> dict[str, Any]:
        """Run one of the tests that were collected last.

        Args:
            index: Which; they are to be run in their order.

        Returns:
            ``outcome`` (``passed``, ``failed``, ``skipped``, ``xfailed``, ``unfit``), ``reason``, ``error``;
            ``replaced``: what is another than pytest, unittest or the test's file made it.
        """
        self._record.clear()
        following = self._items[index + 1] if index + 1 < len(self._items) else None
        self._config.hook.pytest_runtest_protocol(item=self._items[index], nextitem=following)
        return {**self._record.of_test(), "replaced": self._record.replaced()}

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


def _is_marked(item: Any) -> bool:
    """Whether a mark in the test's file says more of it than what it is given."""
    return any(mark.name not in _PLAIN_MARKS for mark in item.iter_markers())


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
