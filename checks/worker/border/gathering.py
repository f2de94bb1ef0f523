"""The tests of a challenge's file as pytest collects them, with assertions explained and nothing written."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .assertions import Assertions

__all__ = ["Gathered", "place_in", "prepared"]

_OPTIONS = (
    *("-c", os.devnull, "--capture=sys", "--strict-config"),
    *(
        f"-pno:{name}"
        for name in (
            *("cacheprovider", "faulthandler", "pastebin", "stepwise", "terminal", "junitxml"),
            *("threadexception", "unraisableexception", "warnings"),
        )
    ),
)
_DATABASE = "judge-tests"


def prepared(root: Path, assertions: Assertions) -> None:
    """Have pytest rewrite the assertions of all of a challenge's files, its helpers' too.

    Raises:
        ImportError: pytest is not installed.
    """
    from _pytest.assertion import rewrite

    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    sys.dont_write_bytecode = True
    original, own = rewrite.rewrite_asserts, str(root)

    def rewritten(tree: Any, source: bytes, module_path: Any = None, config: Any = None) -> None:
        if str(module_path).startswith(own):
            assertions.watched(tree, str(module_path))
        original(tree, source, module_path, config)

    module: Any = rewrite
    hook: Any = rewrite.AssertionRewritingHook
    should = hook._should_rewrite
    module.rewrite_asserts = rewritten
    hook._early_rewrite_bailout = lambda self, name, state: False
    hook._should_rewrite = lambda self, name, fn, state: fn.startswith(own) or should(self, name, fn, state)
    if any(b"hypothesis" in path.read_bytes() for path in (root / "tests").rglob("*.py")):
        _prepare_hypothesis()


def _prepare_hypothesis() -> None:
    """Hypothesis without files and deadlines: a call that crosses a border takes longer than another."""
    try:
        import hypothesis
    except ImportError:
        return
    hypothesis.settings.register_profile(_DATABASE, database=None, deadline=None)
    hypothesis.settings.load_profile(_DATABASE)


class Gathered:
    """The tests of one file.

    Args:
        root: The challenge's folder.
        file: Relative to it.
        plugin: Is told of all that pytest tells.
    """

    def __init__(self, root: Path, file: str, plugin: Any) -> None:
        import pytest
        from _pytest._io import TerminalWriter
        from _pytest.config import _prepareconfig

        self._root = root
        path = str(root / file)
        self.config = _prepareconfig(
            [*_OPTIONS, "--rootdir", str(root), "--confcutdir", str(root), path], [plugin]
        )
        self.config.pluginmanager.register(_NoTerminal(TerminalWriter(io.StringIO())), "terminalreporter")
        vars(self.config.option).setdefault("verbose", 0)
        self.config._do_configure()
        self.session = pytest.Session.from_config(self.config)
        self.config.hook.pytest_sessionstart(session=self.session)
        self.config.hook.pytest_collection(session=self.session)
        self.items: list[Any] = list(self.session.items)

    def told(self) -> Iterator[dict[str, Any]]:
        """The tests: ``id``, ``name``, ``group`` (classes), ``line``, ``doc`` and ``row`` (of parameters)."""
        for item in self.items:
            name = getattr(item, "originalname", None) or item.name
            group = item.nodeid.partition("::")[2].removesuffix(item.name).rstrip(":").replace("::", ".")
            specified = getattr(item, "callspec", None)
            yield {
                "name": name,
                "group": group,
                "line": (item.location[1] or 0) + 1,
                "doc": str(getattr(item.obj, "__doc__", None) or "")[:2_000],
                "row": "" if specified is None else str(specified.id)[:200],
            }

    def run(self, index: int, *, last: bool) -> None:
        """Run one test.

        Args:
            index: Which.
            last: Whether all fixtures are torn down behind it.
        """
        following = None if last or index + 1 >= len(self.items) else self.items[index + 1]
        self.config.hook.pytest_runtest_protocol(item=self.items[index], nextitem=following)

    def close(self) -> None:
        """Forget the files: who gathers them anew imports them anew."""
        self.config._ensure_unconfigure()
        own = str(self._root)
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(own):
                del sys.modules[name]


class _NoTerminal:
    """What pytest asks for how to lay out what it compares: plainly.

    Args:
        writer: A terminal writer that leads nowhere.
    """

    def __init__(self, writer: Any) -> None:
        self._tw = writer


def place_in(root: Path, error: BaseException) -> tuple[str | None, int | None]:
    """The innermost line of a folder's files that an exception went through."""
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(root):
        return os.path.relpath(error.filename, root), error.lineno
    found: tuple[str | None, int | None] = None, None
    trace = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if Path(file).is_relative_to(root):
            found = os.path.relpath(file, root), trace.tb_lineno
        trace = trace.tb_next
    return found


Told = Callable[[BaseException], dict[str, Any]]
