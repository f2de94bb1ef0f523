"""An ``adapter.py`` that a submission brings along: every verdict through it says so.

An adapter says how a submission is called. One that computes could hold the answer, while the files that a
judge reads return something else; so a verdict through one that does more than call is at best ``warn``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.sources import parsed
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.verdict import Verdict

__all__ = ["beyond_calling", "told_of"]

#: What makes, moves or measures arrays, and computes nothing of what they hold.
_HANDING = frozenset(
    {"arange", "array", "array_split", "asarray", "ascontiguousarray", "astype", "atleast_1d", "atleast_2d",
     "atleast_3d", "broadcast_to", "concatenate", "copy", "dtype", "empty", "empty_like", "expand_dims",
     "flatten", "flip", "float16", "float32", "float64", "full", "hstack", "int32", "int64", "moveaxis",
     "ndarray", "ndim", "ones", "ravel", "repeat", "reshape", "shape", "size", "split", "squeeze", "stack",
     "swapaxes", "take", "tile", "tolist", "transpose", "vstack", "zeros", "zeros_like"}
)  # fmt: skip
_ARRAYS = frozenset({"numpy", "cupy", "math", "scipy"})
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_COUNTING = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


def told_of(bench: Bench, found: Findings) -> str:
    """Say in the evidence of a check that a submission was called through its own adapter.

    Returns:
        A clause for the summary where it does more than call; empty otherwise. The verdict warns then.
    """
    bindings = bench.known_bindings
    if bindings is None or not bench.submission.adapts_itself:
        return ""
    lines = [binding.line for binding in bindings.found.values() if binding.origin == ADAPTER]
    if not lines:
        return ""
    more = beyond_calling(bench.submission.read_bytes(ADAPTER))
    found.note(
        "called through", "the submission's own adapter.py", file=ADAPTER, line=more[0] if more else lines[0],
        note=f"it does more than call: {more[1]}" if more else "it calls, and computes nothing",
    )  # fmt: skip
    if not more:
        return ""
    found.conclude(Verdict.WARN)
    return f"its own {ADAPTER}:{more[0]} does more than call ({more[1]})"


def beyond_calling(source: bytes) -> tuple[int, str] | None:
    """Where an adapter computes, if it does, and by what: line and words.

    Sizes may be counted; what arrays hold may be handed on in another shape, type or order.
    """
    try:
        tree = parsed(source)
    except SyntaxError:
        return None
    names = _array_names(tree)
    return min(_computing(tree, names), default=None)


def _array_names(tree: ast.Module) -> dict[str, str]:
    """Local name → what it is of an array package: the package, or a function of it."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in _ARRAYS:
                    names[alias.asname or alias.name.partition(".")[0]] = ""
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _ARRAYS:
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
    return names


def _computing(tree: ast.Module, names: dict[str, str]) -> Iterator[tuple[int, str]]:
    loops = [node for node in ast.walk(tree) if isinstance(node, _LOOPS)]
    inside = {id(node) for loop in loops for node in ast.walk(loop)}
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.AugAssign):
            if not isinstance(node.op, _COUNTING):
                yield node.lineno, f"{type(node.op).__name__.lower()} of {_short(node)}"
            elif id(node) in inside and not _is_counting(node):
                yield node.lineno, f"arithmetic in a loop: {_short(node)}"
        elif isinstance(node, ast.Call) and (name := _called(node, names)):
            yield node.lineno, f"{name}"


def _called(node: ast.Call, names: dict[str, str]) -> str:
    """The function of an array package that a call asks to compute; empty where it is none."""
    function = node.func
    if isinstance(function, ast.Name):
        name = names.get(function.id, "")
        return name if name and name not in _HANDING else ""
    chain: list[str] = []
    while isinstance(function, ast.Attribute):
        chain.append(function.attr)
        function = function.value
    if isinstance(function, ast.Name) and names.get(function.id) == "" and chain and chain[0] not in _HANDING:
        return ".".join([function.id, *reversed(chain)])
    return ""


def _is_counting(node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether a number that stands there is added or multiplied: positions and sizes are counted so."""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
    return any(isinstance(side, ast.Constant) for side in sides)


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else f"{text[:39]}…"
