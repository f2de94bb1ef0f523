"""Integer constants of a C++ source: the arithmetic that a reader does in the head."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping

from judge_tui.checks.sources import expression

__all__ = ["Constants", "folded", "integer"]

#: Name → its text, unevaluated.
Constants = dict[str, str]

_DEPTH = 12
_LARGEST = 1 << 40
_LENGTH = 400
_BASE = 1 << 10
_SIZES = {"float": 4, "int": 4, "double": 8, "char": 1, "long long": 8, "int64_t": 8, "int32_t": 4, "half": 2}
_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip


def integer(text: str, constants: Mapping[str, str], depth: int = _DEPTH) -> int | None:
    """The value of a constant expression; ``None`` where it is none that is simple.

    Args:
        text: As written: numbers, named constants, arithmetic, ``sizeof`` of plain types.
        constants: Name → text.
        depth: How many names may stand behind each other.
    """
    if not text or len(text) > _LENGTH or depth <= 0:
        return None
    plain = re.sub(r"sizeof\s*\(\s*([\w ]+?)\s*\)", lambda m: str(_SIZES.get(m[1], "unknown")), text)
    plain = re.sub(r"static_cast\s*<[\w ]+>", "", plain)
    plain = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlLzZ]+\b", r"\1", plain)
    plain = re.sub(r"\b[A-Za-z_]\w*::", "", plain).replace("/", "//")
    try:
        return folded(expression(plain.strip()), constants, depth)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def folded(node: ast.expr, constants: Mapping[str, str], depth: int = _DEPTH) -> int | None:
    """The value of a constant expression that is parsed already, Python's own among them.

    Args:
        node: Its tree.
        constants: Name → text.
        depth: How many names may stand behind each other.
    """
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int and abs(node.value) < _LARGEST else None
    if isinstance(node, ast.Name):
        return integer(constants.get(node.id, ""), constants, depth - 1)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = folded(node.operand, constants, depth)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp):
        left, right = folded(node.left, constants, depth), folded(node.right, constants, depth)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.LShift | ast.Pow):
            base = 2 if isinstance(node.op, ast.LShift) else left
            times = left if isinstance(node.op, ast.LShift) else 1
            return times * base**right if 0 <= right < 40 and abs(base) <= _BASE else None
        known = _OPERATIONS.get(type(node.op))
        result = known(left, right) if known else None
        return result if result is not None and abs(result) < _LARGEST else None
    return None
