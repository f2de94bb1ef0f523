"""What stood where an exception arose: the expression, and what its names held then.

Python tells the columns of the instruction that raised (PEP 657). Names, attributes and entries of plain
containers in it are read, nothing is called; what has no short text is left out.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from traceback import FrameSummary
from types import FrameType, ModuleType
from typing import Any

import numpy as np

__all__ = ["operands"]

#: Longest expression that is told, in characters, and longest text of a value.
_LONGEST, _LONGEST_VALUE = 80, 24
#: So many operands are told.
_MOST = 4
#: Packages whose arrays are looked at.
_ARRAYS = ("numpy", "cupy")
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def operands(place: FrameSummary, frame: FrameType) -> str:
    """An expression and its operands: ``kept[k], k = 3, len(kept) = 3``.

    Args:
        place: Where the exception arose, with columns.
        frame: The same, with what its names hold.

    Returns:
        Empty where the columns are not known, the expression is long or nothing of it can be told.
    """
    expression = _expression(place)
    if not expression:
        return ""
    try:
        tree = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ""
    names = {**frame.f_globals, **frame.f_locals}
    told: dict[str, None] = {}
    for node in _parts(tree):
        known, value = _value(node, names)
        if known and (text := _text(ast.unparse(node), value)):
            told[text] = None
    return ", ".join([f"`{' '.join(expression.split())}`", *list(told)[:_MOST]]) if told else ""


def _expression(place: FrameSummary) -> str:
    """The source of the instruction that raised; empty for a statement, and for what is long."""
    first, last = place.lineno, place.end_lineno
    start, end = place.colno, place.end_colno
    if first is None or last is None or start is None or end is None or last - first > 3:
        return ""
    # columns are counted in bytes
    lines = [linecache.getline(place.filename, line).encode() for line in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    text = b"".join([lines[0][start:], *lines[1:]]).decode("utf-8", "replace")
    return text if len(text) <= _LONGEST else ""


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """Operands, the outermost first: what is called is none, but whose method it is."""
    if isinstance(node, ast.Call):
        called = node.func
        inner = [called.value] if isinstance(called, ast.Attribute) else []
        inner += [*node.args, *(each.value for each in node.keywords)]
    else:
        inner = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
    for each in inner:
        if isinstance(each, (ast.Name, ast.Attribute)) or (
            isinstance(each, ast.Subscript) and not isinstance(each.slice, ast.Slice)
        ):
            yield each
        if not isinstance(each, ast.Name):
            yield from _parts(each)


def _value(node: ast.expr, names: dict[str, Any]) -> tuple[bool, Any]:
    """Whether it can be read without calling anything, and what it holds."""
    if isinstance(node, ast.Constant):
        return True, node.value
    if isinstance(node, ast.Name):
        return node.id in names, names.get(node.id)
    if isinstance(node, ast.Attribute):
        known, owner = _value(node.value, names)
        if not known or isinstance(owner, ModuleType):
            return False, None
        try:
            held = object.__getattribute__(owner, "__dict__")
        except AttributeError:
            return False, None
        return (True, held[node.attr]) if type(held) is dict and node.attr in held else (False, None)
    if isinstance(node, ast.Subscript):
        (known, owner), (given, at) = _value(node.value, names), _value(node.slice, names)
        if known and given and type(owner) in (list, tuple, dict) and type(at) in (int, str):
            try:
                return True, owner[at]
            except (IndexError, KeyError, TypeError):
                return False, None
    return False, None


def _text(name: str, value: Any) -> str:
    """What a name holds, shortly; empty for what says nothing."""
    if isinstance(value, np.generic):
        value = value.item()
    kind = type(value)
    if kind in _PLAIN and _short(value):
        text = repr(value)
        return f"{name} = {text}" if len(text) <= _LONGEST_VALUE and name != text else ""
    if kind in (list, tuple, set, dict):
        if kind is not dict and 0 < len(value) <= _MOST and all(map(_is_number, value)):
            return f"{name} = {value!r}"
        return f"len({name}) = {len(value)}"
    if kind.__module__.partition(".")[0] in _ARRAYS and hasattr(value, "dtype"):
        return f"{name} is {value.dtype} {value.shape}"
    return ""


def _short(value: Any) -> bool:
    """Whether a plain value's text is no long one to make."""
    if isinstance(value, (str, bytes)):
        return len(value) <= _LONGEST_VALUE
    return not isinstance(value, int) or value.bit_length() <= 4 * _LONGEST_VALUE


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and _short(value)
