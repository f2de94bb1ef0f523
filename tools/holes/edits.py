"""One-edit mutants of a Python source: what a slip of the hand, or of a model, makes of right code."""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Edit", "edits"]

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_NAMES = {
    one: other
    for pair in (
        ("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("amin", "amax"), ("any", "all"),
        ("zeros", "ones"), ("zeros_like", "ones_like"), ("floor", "ceil"), ("triu", "tril"),
        ("heappush", "heappushpop"), ("cumsum", "cumprod"), ("logical_and", "logical_or"), ("exp", "exp2"),
        ("sum", "mean"), ("append", "extend"),
    )
    for one, other in (pair, pair[::-1])
}  # fmt: skip
#: Calls whose argument, or whose object, can stand in their place: a copy that is not made any more.
_COPIES = frozenset({"copy", "array", "asarray", "ascontiguousarray", "deepcopy", "list", "tuple", "astype"})
_LIKE = frozenset({"zeros_like", "ones_like", "empty_like", "full_like"})
_TURNS = frozenset({"T", "mT"})
_TURNED = frozenset({"swapaxes", "transpose", "reversed", "sorted", "abs", "sqrt"})
#: Where nothing is computed that anybody asks for.
_ASIDE = ("test", "main", "demo", "bench", "example", "check", "__repr__", "__str__")


@dataclass(frozen=True, slots=True)
class Edit:
    """A source that differs from a right one in one place.

    Attributes:
        kind: What was done, in a word or two.
        line: Where, in the right source.
        statement: The line on which its statement begins.
        before: What stood there.
        after: What stands there now; empty where it was taken out.
        source: All of it.
    """

    kind: str
    line: int
    statement: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.line}: {self.kind}: {_short(self.before)} → {_short(self.after) or 'nothing'}"


def edits(source: str) -> list[Edit]:
    """All edits of a source, in the order of its lines; tests, examples and messages are left alone.

    Raises:
        SyntaxError: It is not Python.
    """
    tree = ast.parse(source)
    text = _Text(source)
    found: dict[str, Edit] = {}
    for node, statement in _of_interest(tree.body):
        for kind, at, after in itertools.chain.from_iterable(make(node) for make in _KINDS):
            changed = text.spliced(at, after)
            if changed != source and _compiles(changed):
                made = Edit(kind, at.lineno, statement, text.of(at), after, changed)
                found.setdefault(changed, made)
    return sorted(found.values(), key=lambda edit: edit.line)


_Made = Iterator[tuple[str, "ast.expr | ast.stmt", str]]


class _Text:
    """A source by its lines, as bytes: what :mod:`ast` counts columns in."""

    def __init__(self, source: str) -> None:
        self._lines = source.encode().splitlines(keepends=True)
        self._starts = [0, *itertools.accumulate(map(len, self._lines))]
        self._all = source.encode()

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        ends = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[ends[0] - 1] + ends[1]

    def of(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._span(node)
        return self._all[start:end].decode()

    def spliced(self, node: ast.expr | ast.stmt, text: str) -> str:
        start, end = self._span(node)
        return (self._all[:start] + text.encode() + self._all[end:]).decode()


def _compiles(source: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "edited", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _short(text: str) -> str:
    return " ".join(text.split())


def _of_interest(body: list[ast.stmt]) -> Iterator[tuple[ast.AST, int]]:
    """The nodes that compute what somebody asks for, and the line of the statement that each belongs to."""
    waiting: list[tuple[ast.AST, int]] = [(node, node.lineno) for node in body]
    while waiting:
        node, statement = waiting.pop()
        if _left_alone(node):
            continue
        statement = node.lineno if isinstance(node, ast.stmt) else statement
        yield node, statement
        waiting += [(part, statement) for part in _parts(node)]


def _parts(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, ast.FunctionDef):
        return [*node.args.defaults, *(one for one in node.args.kw_defaults if one), *node.body]
    if isinstance(node, ast.AnnAssign):
        return [node.value] if node.value else []
    return [] if isinstance(node, ast.JoinedStr) else ast.iter_child_nodes(node)


def _left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name.lower().lstrip("_").startswith(_ASIDE)
    if isinstance(node, ast.If):
        return "__name__" in ast.dump(node.test)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or _calls(node.value, "print")
    return isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom)


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _text(node: ast.AST) -> str:
    """A node's text, for a place where any expression binds as it stands."""
    text = ast.unparse(node)
    if isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript | ast.stmt):
        return text
    return f"({text})"


def _comparisons(node: ast.AST) -> _Made:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARED:
        turned = ast.Compare(node.left, [_COMPARED[type(node.ops[0])](), *node.ops[1:]], node.comparators)
        yield "comparison", node, _text(turned)


def _operators(node: ast.AST) -> _Made:
    if isinstance(node, ast.BinOp) and (other := _COMPUTED.get(type(node.op))):
        yield "operator", node, _text(ast.BinOp(node.left, other(), node.right))
    if isinstance(node, ast.AugAssign):
        yield "assigned, not added", node, ast.unparse(ast.Assign([node.target], node.value, lineno=0))
        if other := _COMPUTED.get(type(node.op)):
            yield "operator", node, ast.unparse(ast.AugAssign(node.target, other(), node.value))
    if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield "sign", node, _text(node.operand)


def _constants(node: ast.AST) -> _Made:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield "constant", node, str(not value)
    elif isinstance(value, int):
        yield "off by one", node, str(value + 1)
        yield "off by one", node, f"({value - 1})"
    elif isinstance(value, float):
        yield "constant", node, repr(1.0 if value == 0 else 2 * value)


def _conditions(node: ast.AST) -> _Made:
    if isinstance(node, ast.If | ast.IfExp):
        yield "condition inverted", node.test, f"not ({ast.unparse(node.test)})"
        yield "condition dropped", node.test, "True"
        yield "condition dropped", node.test, "False"
    if isinstance(node, ast.BoolOp):
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield "and for or", node, _text(ast.BoolOp(other, node.values))
        for index in range(len(node.values)):
            rest = [value for at, value in enumerate(node.values) if at != index]
            yield "condition dropped", node, _text(ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0])


def _calls_made(node: ast.AST) -> _Made:
    if not isinstance(node, ast.Call):
        return
    if other := _NAMES.get(_name(node.func)):
        named = (
            ast.Attribute(node.func.value, other, ast.Load())
            if isinstance(node.func, ast.Attribute)
            else ast.Name(other, ast.Load())
        )
        yield "another function", node.func, ast.unparse(named)
    name = _name(node.func)
    if name in _COPIES | _TURNED:
        if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
            yield "not called", node, _text(node.func.value)
        elif node.args:
            yield "not called", node, _text(node.args[0])
    if name in _LIKE and node.args:
        yield "aliased", node, _text(node.args[0])
    for index, (one, two) in enumerate(itertools.pairwise(node.args)):
        if isinstance(one, ast.Name) and isinstance(two, ast.Name):
            turned = [*node.args[:index], two, one, *node.args[index + 2 :]]
            yield "arguments swapped", node, ast.unparse(ast.Call(node.func, turned, node.keywords))


def _name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in {"np", "numpy", "copy", "math"}


def _places(node: ast.AST) -> _Made:
    if isinstance(node, ast.Attribute) and node.attr in _TURNS and isinstance(node.ctx, ast.Load):
        yield "not turned", node, _text(node.value)
    if isinstance(node, ast.Slice):
        for end in (node.lower, node.upper):
            if end is not None and not isinstance(end, ast.Constant):
                yield "off by one", end, f"({ast.unparse(end)}) + 1"
                yield "off by one", end, f"({ast.unparse(end)}) - 1"
        if node.upper is not None and node.lower is not None:
            yield "bound dropped", node.lower, ""
            yield "bound dropped", node.upper, ""
    if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and _calls(node.iter, "range"):
        yield "one turn less", node.iter, f"list({ast.unparse(node.iter)})[1:]"
        yield "one turn less", node.iter, f"list({ast.unparse(node.iter)})[:-1]"
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, ast.Name)
    ):
        yield "stale index", node.slice, f"({node.slice.id} - 1)"


def _statements(node: ast.AST) -> _Made:
    if isinstance(node, ast.Expr | ast.AugAssign | ast.Continue | ast.Break):
        yield "statement dropped", node, "pass"
    if isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple):
        yield "statement dropped", node, "pass"
    if isinstance(node, ast.Continue):
        yield "another jump", node, "break"
    if isinstance(node, ast.Break):
        yield "another jump", node, "continue"


_KINDS: tuple[Callable[[ast.AST], _Made], ...] = (
    _comparisons, _operators, _constants, _conditions, _calls_made, _places, _statements,
)  # fmt: skip
