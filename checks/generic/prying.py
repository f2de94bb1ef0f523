"""Code that looks around for who calls it: frames, the collector's objects, other processes, the worker."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

__all__ = ["pried"]

#: Functions and attributes by which a callee finds its caller, or objects that nobody handed to it.
_FRAMES = frozenset({"_getframe", "_current_frames", "currentframe", "getouterframes", "getinnerframes"})
_OBJECTS = frozenset({"get_objects", "get_referrers", "get_referents"})
_STACKS = {("inspect", "stack"), ("inspect", "trace"), ("traceback", "walk_stack"), ("os", "getppid")}
#: What a program may want to know of itself and its machine.
_OF_ONESELF = re.compile(
    r"/proc/(self/(status|statm|stat|cgroup|smaps_rollup)|meminfo|cpuinfo|stat|loadavg|uptime|version|sys/)"
)
_PROCESSES = re.compile(r"/proc(/|$)")
_JUDGE = re.compile(r"\bjudge[_-](worker|tui)\b")


def pried(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and words of each place where a file looks for more than it was handed.

    Args:
        tree: The file.
    """
    documented = _docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if node.attr in _FRAMES or (owner, node.attr) in _STACKS:
                yield node.lineno, f"the frames around it ({owner or '…'}.{node.attr})"
            elif node.attr in _OBJECTS and owner == "gc":
                yield node.lineno, f"objects that nobody handed to it (gc.{node.attr})"
        elif isinstance(node, ast.ImportFrom):
            taken = {(node.module or "", name.name) for name in node.names}
            if taken & _STACKS or any(name in _FRAMES | _OBJECTS for _module, name in taken):
                yield node.lineno, f"what stands around it (from {node.module})"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            if _PROCESSES.match(node.value) and not _OF_ONESELF.match(node.value):
                yield node.lineno, f"processes ({node.value[:40]!r})"
            elif _JUDGE.search(node.value):
                yield node.lineno, f"its judge ({node.value[:40]!r})"


def _docstrings(tree: ast.Module) -> frozenset[int]:
    """Texts that stand alone: they ask for nothing."""
    return frozenset(
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )
