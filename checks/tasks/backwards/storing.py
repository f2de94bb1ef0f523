"""What the source calls the entries of a cache, and where it stores them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Steps
from judge_tui.checks.sources import parsed
from judge_tui.checks.tasks.backwards.source import function

__all__ = ["entry_name", "stored_at", "unpacked"]


def unpacked(bench: Bench, count: int) -> tuple[str, ...]:
    """Names of the items of a tuple cache: as the backward unpacks them, else as the forward packs them.

    Args:
        bench: The submission.
        count: How many items there are.

    Returns:
        Empty where the source does not say.
    """
    told = {role: _first(bench, role, count) for role in ("backward", "forward")}
    names = told["backward"] or told["forward"]
    # what the backward throws away is called by the forward alone
    others = told["forward"] or ("",) * len(names)
    return tuple(other if name.strip("_") == "" else name for name, other in zip(names, others, strict=True))


def _first(bench: Bench, role: str, count: int) -> tuple[str, ...]:
    """The first tuple of so many names in a role's source, or in what it calls; empty where there is none."""
    node = function(bench, role)
    if node is None:
        return ()
    for each in (node, *_reached(bench, role, node)):
        for names in _tuples(each, unpacking=role == "backward"):
            if len(names) == count and any(names):
                return names
    return ()


def _reached(bench: Bench, role: str, node: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """Functions and methods of the same file that a function calls by name: it may only hand on."""
    called = {
        inner.func.id if isinstance(inner.func, ast.Name) else inner.func.attr
        for inner in ast.walk(node)
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name | ast.Attribute)
    }
    try:
        tree = parsed(bench.submission.read_bytes(bench.binding(role).file))
    except (SyntaxError, OSError):
        return
    for inner in ast.walk(tree):
        if isinstance(inner, ast.FunctionDef) and inner is not node and inner.name in called:
            yield inner


def _tuples(node: ast.FunctionDef, *, unpacking: bool) -> Iterator[tuple[str, ...]]:
    params = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    for inner in ast.walk(node):
        if unpacking and isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Tuple | ast.List):
            source = inner.value
            if isinstance(source, ast.Attribute) or (isinstance(source, ast.Name) and source.id in params):
                yield tuple(_name(item) for item in inner.targets[0].elts)
        elif not unpacking and isinstance(inner, ast.Tuple | ast.List) and isinstance(inner.ctx, ast.Load):
            yield tuple(_name(item) for item in inner.elts)


def _name(item: ast.expr) -> str:
    if isinstance(item, ast.Attribute):
        return item.attr
    return item.id if isinstance(item, ast.Name) else ""


def entry_name(path: Steps, names: tuple[str, ...]) -> str:
    """How a person would call an entry: by its key, its attribute, or its variable in the tuple."""
    text, first = "", True
    for kind, key in path:
        if kind == "i":
            named = names[key] if first and key < len(names) else ""
            text = named if named and not text else f"{text}[{key}]" + (f" {named}" if named else "")
            first = False
        else:
            text = f"{text}.{key}" if text else str(key)
    return text or "the cache itself"


def stored_at(bench: Bench, path: Steps) -> tuple[str, int]:
    """File and line where the forward stores an entry; the forward itself where that is not seen."""
    binding, node = bench.binding("forward"), function(bench, "forward")
    if node is None or not path:
        return binding.file, binding.line
    kind, key = path[-1]
    lines = list(_positions(node, key) if kind == "i" else _keys(node, str(key)))
    return binding.file, lines[0] if lines else binding.line


def _keys(node: ast.FunctionDef, key: str) -> Iterator[int]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Dict):
            yield from (k.lineno for k in inner.keys if isinstance(k, ast.Constant) and k.value == key)
        elif isinstance(inner, ast.keyword) and inner.arg == key:
            yield inner.value.lineno
        elif isinstance(inner, ast.Subscript | ast.Attribute) and isinstance(inner.ctx, ast.Store):
            index = inner.slice if isinstance(inner, ast.Subscript) else None
            name = inner.attr if isinstance(inner, ast.Attribute) else getattr(index, "value", None)
            if name == key:
                yield inner.lineno


def _positions(node: ast.FunctionDef, index: int) -> Iterator[int]:
    displays = [
        i for i in ast.walk(node) if isinstance(i, ast.Tuple | ast.List) and isinstance(i.ctx, ast.Load)
    ]
    for display in sorted(displays, key=lambda d: d.lineno, reverse=True):
        if len(display.elts) > index and all(isinstance(e, ast.Name | ast.Attribute) for e in display.elts):
            yield display.elts[index].lineno
