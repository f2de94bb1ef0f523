"""An ``adapter.py`` that a submission brings along: every verdict through it says so.

An adapter says how a submission is called. One that computes could hold the answer, while the files that a
judge reads return something else; so a verdict through one that does more than call is at best ``warn``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.sources import parsed
from judge_tui.checks.submission import ADAPTER
from judge_tui.checks.verdict import Verdict

__all__ = ["beyond_calling", "told_of"]

#: What makes, moves or measures arrays, and computes nothing of what they hold.
_HANDING = frozenset(
    {"arange", "array", "array_equal", "array_split", "asarray", "ascontiguousarray", "astype", "atleast_1d",
     "atleast_2d", "atleast_3d", "broadcast_to", "concatenate", "copy", "dtype", "empty", "empty_like",
     "errstate", "expand_dims", "finfo", "flatten", "flip", "float16", "float32", "float64", "full",
     "full_like", "hstack", "int32", "int64", "moveaxis", "ndarray", "ndim", "ndindex", "ones", "pad",
     "ravel", "repeat", "reshape", "shape", "size", "split", "squeeze", "stack", "swapaxes", "take", "tile",
     "tolist", "transpose", "vstack", "zeros", "zeros_like"}
)  # fmt: skip
#: Packages whose functions compute; ``operator`` spells what operators do.
_ARRAYS = frozenset({"numpy", "cupy", "math", "cmath", "scipy", "operator", "functools"})
#: What an array's own methods compute.
_METHODS = frozenset(
    {"clip", "conj", "cumprod", "cumsum", "dot", "max", "mean", "min", "prod", "round", "std", "sum", "trace",
     "var"}
)  # fmt: skip
#: Builtins by which anything can be reached or run.
_REACHING = frozenset(
    {"__import__", "compile", "delattr", "eval", "exec", "getattr", "globals", "import_module", "locals",
     "map", "pow", "reduce", "setattr", "sum", "vars"}
)  # fmt: skip
_COUNTING = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_SIZES = frozenset({"shape", "size", "ndim"})
_POSITIONS = ("range", "enumerate")
_DEEPEST = 12


def told_of(bench: Bench, found: Findings) -> str:
    """Say in the evidence of a check that an adapter stands between it and the submission.

    Returns:
        A clause for the summary where the submission's own does more than call; empty otherwise. The verdict
        warns then.
    """
    bindings, submission = bench.known_bindings, bench.submission
    if bindings is None or submission.adapter is None:
        return ""
    lines = [binding.line for binding in bindings.found.values() if ADAPTER in (binding.origin, binding.file)]
    own = submission.adapts_itself
    # one that plays no role is loaded all the same
    if not (lines or own):
        return ""
    more = beyond_calling(submission.adapter.read_bytes())
    whose = "the submission's own" if own else "the judge's"
    note = f"it does more than call: {more[1]}" if more else "no computing was found in it"
    if own:
        line = more[0] if more else next(iter(lines), 1)
        found.note("called through", f"{whose} adapter.py", file=ADAPTER, line=line, note=note)
    else:
        found.note("called through", f"{whose} adapter.py", note=note)
    if not (own and more):
        return ""
    found.conclude(Verdict.WARN)
    return f"its own {ADAPTER}:{more[0]} does more than call ({more[1]})"


def beyond_calling(source: bytes) -> tuple[int, str] | None:
    """Where an adapter may compute, and by what: line and words.

    Sizes may be counted; what arrays hold may be handed on in another shape, type or order. What cannot be
    told counts as computing.
    """
    try:
        tree = parsed(source)
    except (SyntaxError, RecursionError):
        return 1, "it cannot be read"
    names = _array_names(tree)
    counted = _counted(tree)
    annotations = _annotations(tree)
    for node in ast.walk(tree):
        if id(node) not in annotations and (what := _computing(node, names, counted)):
            return getattr(node, "lineno", 1), what
    return None


def _array_names(tree: ast.Module) -> dict[str, str]:
    """Local name → what it is of a package that computes: the package (empty), or a function of it."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in _ARRAYS:
                    names[alias.asname or alias.name.partition(".")[0]] = ""
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _ARRAYS:
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
    return names


def _annotations(tree: ast.Module) -> frozenset[int]:
    """Everything within annotations: types are no values."""
    roots = [
        part
        for node in ast.walk(tree)
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if part is not None
    ]
    return frozenset(id(inner) for root in roots for inner in ast.walk(root))


def _counted(tree: ast.Module) -> frozenset[str]:
    """Names that stand for sizes and positions: read off shapes, lengths and ranges."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_size(node.value, frozenset(found)):
            targets = (part for target in node.targets for part in ast.walk(target))
            found |= {part.id for part in targets if isinstance(part, ast.Name)}
        elif isinstance(node, ast.For | ast.comprehension) and _called_plainly(node.iter) in _POSITIONS:
            first = node.target.elts[0] if isinstance(node.target, ast.Tuple) else node.target
            found |= {first.id} if isinstance(first, ast.Name) else set()
    return frozenset(found)


def _is_size(node: ast.AST, counted: frozenset[str], depth: int = 0) -> bool:
    """Whether an expression counts: a number that is written there, a size, or what is made of those."""
    if depth > _DEEPEST:
        return False
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    if isinstance(node, ast.Name):
        return node.id in counted
    if isinstance(node, ast.Attribute):
        return node.attr in _SIZES
    if isinstance(node, ast.Subscript):
        return _is_size(node.value, counted, depth + 1)
    if isinstance(node, ast.Call):
        return _called_plainly(node) in ("len", "int", "min", "max") and all(
            _called_plainly(node) == "len" or _is_size(argument, counted, depth + 1) for argument in node.args
        )
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, _COUNTING) and all(
            _is_size(side, counted, depth + 1) for side in (node.left, node.right)
        )
    return isinstance(node, ast.Tuple) and all(_is_size(part, counted, depth + 1) for part in node.elts)


def _called_plainly(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _computing(node: ast.AST, names: Mapping[str, str], counted: frozenset[str]) -> str:
    """What a piece of an adapter may compute, in words; empty where it only hands on."""
    if isinstance(node, ast.BinOp | ast.AugAssign):
        sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
        counts = isinstance(node.op, _COUNTING)
        if counts and all(_is_size(side, counted) for side in sides):
            return ""
        # a size beside a number, and lists that are put together
        if counts and any(isinstance(side, ast.Constant | ast.List | ast.JoinedStr) for side in sides):
            return ""
        return f"the operator {type(node.op).__name__.lower()}"
    if isinstance(node, ast.Call):
        return _called(node, names)
    if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
        return f"everything of {node.module}"
    targets = node.targets if isinstance(node, ast.Assign) else ()
    if any(isinstance(target, ast.Attribute) for target in targets):
        return "what belongs to others is set"
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in names:
        return f"another name for {node.value.id}"
    return ""


def _called(node: ast.Call, names: Mapping[str, str]) -> str:
    """The call that computes; empty where it hands on, or calls what is the submission's."""
    function = node.func
    if isinstance(function, ast.Name):
        name = names.get(function.id, "")
        known = name and name not in _HANDING
        return name if known else (function.id if function.id in _REACHING else "")
    chain: list[str] = []
    while isinstance(function, ast.Attribute) and len(chain) < _DEEPEST:
        chain.append(function.attr)
        function = function.value
    if not chain:
        return ""
    if isinstance(function, ast.Name) and names.get(function.id) == "" and chain[0] not in _HANDING:
        return ".".join([function.id, *reversed(chain)])
    if chain[0] in _METHODS or (chain[0].startswith("__") and chain[0] != "__call__"):
        return f".{chain[0]}"
    return chain[0] if chain[0] in _REACHING - {"sum", "map", "pow"} else ""
