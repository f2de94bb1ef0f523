"""Hooks of a submission's into pytest: which can decide what is reported, and pytest without them.

A conftest file may offer fixtures, options and parameters; it may also say that what failed has passed. Those
hooks are told of, and left out where that is asked for.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["Hooks", "decides"]

#: Hooks that offer something, or are told something, and decide nothing of a test.
_HARMLESS = frozenset(
    {
        *("pytest_addhooks", "pytest_addoption", "pytest_assertrepr_compare", "pytest_configure"),
        *("pytest_generate_tests", "pytest_make_parametrize_id", "pytest_plugins", "pytest_report_header"),
        *("pytest_report_collectionfinish", "pytest_sessionfinish", "pytest_sessionstart"),
        *("pytest_terminal_summary", "pytest_unconfigure", "pytest_warning_recorded"),
    }
)
_PYTEST = ("_pytest.", "pluggy.")


def decides(name: str) -> bool:
    """Whether a name is that of a hook which can decide what comes of a test."""
    return name.startswith("pytest_") and name not in _HARMLESS


class Hooks:
    """A plug-in that meets every other before it is registered; it has to be the first.

    Args:
        root: The submission's folder.
        used: Whether hooks of the submission that can decide are called.
        ours: Further plug-ins that are not the submission's.

    Attributes:
        found: File, line and name of each such hook.
    """

    def __init__(self, root: Path, *, used: bool, ours: tuple[Any, ...]) -> None:
        self.found: list[tuple[str, int, str]] = []
        self._root = root
        self._used = used
        self._ours = (self, *ours)
        self._manager: Any = None

    def pytest_plugin_registered(self, manager: Any) -> None:
        """Look from now on at what is registered."""
        if self._manager is not None:
            return
        self._manager = manager
        options = manager.parse_hookimpl_opts

        def of_plugin(plugin: Any, name: str) -> Any:
            found = options(plugin, name)
            if found is None or self._known(plugin):
                return found
            hook = (found.get("specname") if isinstance(found, dict) else None) or name
            if not decides(hook):
                return found
            self.found.append((*self._place(getattr(plugin, name)), hook))
            return found if self._used else None

        manager.parse_hookimpl_opts = of_plugin

    def _known(self, plugin: Any) -> bool:
        """Whether a plug-in is pytest's own, or ours."""
        if any(plugin is own for own in self._ours):
            return True
        if isinstance(plugin, ModuleType):
            return plugin.__name__.startswith(_PYTEST) and sys.modules.get(plugin.__name__) is plugin
        kind = type(plugin)
        made = vars(sys.modules.get(kind.__module__, ModuleType(""))).get(kind.__name__)
        return kind.__module__.startswith(_PYTEST) and made is kind

    def _place(self, hook: Any) -> tuple[str, int]:
        code = getattr(inspect.unwrap(hook), "__code__", None)
        path = Path(code.co_filename) if code is not None else self._root
        file = path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else path.name
        return file, code.co_firstlineno if code is not None else 0
