"""Conditions of a Python source that name sizes of several axes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

from judge_tui.checks.cuda.constants import folded
from judge_tui.checks.joined import Bound, Negated, Several, Test, beneath, flipped, ways

__all__ = ["conjunctions"]

_SIGNS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BOOLEAN = (ast.BoolOp, ast.Compare, ast.UnaryOp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_MOST_KEYS = 64
_DEPTH = 8

_Outer = tuple[Bound, ...]


def conjunctions(tree: ast.Module, skip: Callable[[ast.AST], bool]) -> Iterator[tuple[_Outer, int]]:
    """What has to hold together somewhere, with the line of the innermost of it.

    Args:
        tree: The module.
        skip: Whether a node is not gone into.
    """
    reader = _Reader(tree)
    stack: list[tuple[ast.AST, _Outer, bool]] = [(tree, (), False)]
    while stack:
        node, outer, inside = stack.pop()
        if skip(node):
            continue
        yield from reader.told(node, outer, inside)
        stack += reversed(list(reader.children(node, outer)))


class _Reader:
    """Reads conditions, with what names of the module stand for.

    Args:
        tree: The module.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._constants: dict[str, str] = {}
        self._looked_up: dict[str, tuple[str, ...]] = {}
        self._tables: dict[int, str] = {}
        for node in ast.walk(tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() | ast.Set() as table):
                    self._tables[id(table)] = name
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in self._constants:
                    if (number := folded(value, self._constants)) is not None:
                        self._constants[name] = str(number)
                case ast.Subscript(value=ast.Name(id=table_name), slice=ast.Tuple(elts=names)):
                    self._looked_up[table_name] = _names(names)
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=table_name), attr="get"),
                    args=[ast.Tuple(elts=names), *_],
                ):
                    self._looked_up[table_name] = _names(names)
                case ast.Compare(left=ast.Tuple(elts=names), comparators=[ast.Name(id=table_name)]):
                    self._looked_up[table_name] = _names(names)

    def told(self, node: ast.AST, outer: _Outer, inside: bool) -> Iterator[tuple[_Outer, int]]:
        """What one node says, inside what holds already."""
        match node:
            case ast.BoolOp() | ast.Compare() | ast.UnaryOp(op=ast.Not()) if not inside:
                test = self.test(node)
                for negated in (False, True):
                    for way in ways(test, negated):
                        yield (*outer, *way), node.lineno
            case ast.Dict(keys=keys) | ast.Set(elts=keys):
                names = self._looked_up.get(self._tables.get(id(node), ""), ())
                for key in keys[:_MOST_KEYS]:
                    if isinstance(key, ast.Tuple) and (way := self._tuple(names, key.elts)):
                        yield way, key.lineno
            case ast.Match(subject=subject, cases=cases):
                for case in cases[:_MOST_KEYS]:
                    if way := self._case(subject, case.pattern):
                        yield (*outer, *way), case.pattern.lineno

    def children(self, node: ast.AST, outer: _Outer) -> Iterator[tuple[ast.AST, _Outer, bool]]:
        """The nodes below one, each with what holds there and whether it is part of a condition."""
        if isinstance(node, _SCOPES):
            outer = ()
        if isinstance(node, ast.If | ast.IfExp):
            test = self.test(node.test)
            yield node.test, outer, False
            yield from self._block(node.body, beneath(outer, test))
            yield from self._block(node.orelse, beneath(outer, test, negated=True))
            return
        if isinstance(node, ast.Match):
            for case in node.cases:
                yield from self._block(case.body, (*outer, *self._case(node.subject, case.pattern)))
            return
        inside = isinstance(node, _BOOLEAN)
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield from self._block(value, outer)
            elif isinstance(value, ast.AST):
                yield value, outer, inside and isinstance(value, _BOOLEAN)
            elif isinstance(value, list):
                for each in value:
                    if isinstance(each, ast.AST):
                        yield each, outer, inside and isinstance(each, _BOOLEAN)

    def _block(
        self, body: Sequence[ast.stmt] | ast.expr, outer: _Outer
    ) -> Iterator[tuple[ast.AST, _Outer, bool]]:
        """Statements, of which those behind one that leaves know that its condition did not hold."""
        for node in [body] if isinstance(body, ast.expr) else body:
            yield node, outer, False
            if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], _LEAVING):
                outer = beneath(outer, self.test(node.test), negated=True)

    def test(self, node: ast.expr, depth: int = _DEPTH) -> Test:
        """A condition as tests of sizes."""
        if depth <= 0:
            return None
        match node:
            case ast.BoolOp(op=op, values=values):
                return Several(isinstance(op, ast.And), tuple(self.test(each, depth - 1) for each in values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Negated(self.test(operand, depth - 1))
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                sides = [left, *comparators]
                parts = [
                    self._comparison(one, op, other)
                    for one, op, other in zip(sides, ops, sides[1:], strict=False)
                ]
                return Several(True, tuple(parts))
        return None

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Test:
        if isinstance(op, ast.In) and isinstance(right, ast.Tuple | ast.List | ast.Set):
            parts = tuple(self._comparison(left, ast.Eq(), each) for each in right.elts[:_MOST_KEYS])
            return Several(False, parts)
        if isinstance(op, ast.Eq | ast.NotEq) and isinstance(right, ast.Tuple):
            names = _names(left.elts) if isinstance(left, ast.Tuple) else ()
            equal = Several(True, self._tuple(names, right.elts))
            return equal if isinstance(op, ast.Eq) else Negated(equal)
        sign = _SIGNS.get(type(op))
        if sign is None:
            return None
        if folded(left, {}) is not None:
            left, right, sign = right, left, flipped(sign)
        value = folded(right, self._constants)
        if value is None and (value := folded(left, self._constants)) is not None:
            left, sign = right, flipped(sign)
        return None if value is None else _bound(left, sign, value)

    def _tuple(self, names: Sequence[str], values: Sequence[ast.expr]) -> tuple[Bound, ...]:
        """What holds where names have the values of a tuple."""
        found = []
        for place, each in enumerate(values):
            if (value := folded(each, self._constants)) is not None:
                told = names[place] if len(names) == len(values) else f"[{place}]"
                found.append(Bound(told, "==", value))
        return tuple(found)

    def _case(self, subject: ast.expr, pattern: ast.pattern) -> tuple[Bound, ...]:
        match subject, pattern:
            case _, ast.MatchSequence(patterns=patterns):
                names = _names(subject.elts) if isinstance(subject, ast.Tuple) else ()
                values = [one.value if isinstance(one, ast.MatchValue) else ast.Name("_") for one in patterns]
                return self._tuple(names, values)
            case _, ast.MatchValue(value=value):
                if (number := folded(value, self._constants)) is not None:
                    return (_bound(subject, "==", number),)
        return ()


def _bound(node: ast.expr, sign: str, value: int) -> Bound:
    """A comparison of an expression with an integer."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Mod) and (cut := folded(node.right, {})) and sign == "==" and value < cut:
            return Bound(_name(node.left), "==", cut + value)
        if isinstance(node.op, ast.Mult):
            names = _name(node.left), _name(node.right)
            if all(each.isidentifier() for each in names) and names[0] != names[1]:
                return Bound("*".join(names), sign, value)
    return Bound(_name(node), sign, value)


def _names(nodes: Iterable[ast.expr]) -> tuple[str, ...]:
    return tuple(_name(node) for node in nodes)


def _name(node: ast.expr) -> str:
    """What an expression is called; a text of its own where it has no name."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=place):
            return f"{name}[{folded(place, {})}]"
        case ast.Call(func=ast.Name(id="len"), args=[ast.Attribute(attr="shape") | ast.Name(id="shape")]):
            return "ndim"
    return f"@{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}"
