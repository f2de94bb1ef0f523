"""Conditions of a CUDA source that name sizes of several axes, and template arguments that do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from judge_tui.checks.cuda.constants import integer
from judge_tui.checks.cuda.grammar import children, text_of
from judge_tui.checks.joined import Bound, Negated, Several, Test, beneath, flipped, ways

if TYPE_CHECKING:
    from judge_tui.checks.cuda.grammar import Node

__all__ = ["conjunctions"]

_SIGNS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_LEAVING = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"})
_NAMED = frozenset({"identifier", "field_identifier"})
_DEPTH = 8

_Outer = tuple[Bound, ...]


def conjunctions(root: Node) -> Iterator[tuple[_Outer, int]]:
    """What has to hold together somewhere, with the line of the innermost of it.

    Args:
        root: Of the syntax tree.
    """
    reader = _Reader(root)
    stack: list[tuple[Node, _Outer, bool]] = [(root, (), False)]
    while stack:
        node, outer, inside = stack.pop()
        line = int(node.start_point[0]) + 1
        if not inside:
            test = reader.test(node)
            for negated in (False, True):
                for way in ways(test, negated):
                    yield (*outer, *way), line
        if given := outer if node.type == "case_statement" else reader.given(node):
            yield given, line
        stack += reversed(list(reader.children(node, outer)))


class _Reader:
    """Reads conditions, with what names of the source stand for.

    Args:
        root: Of the syntax tree.
    """

    def __init__(self, root: Node) -> None:
        self._constants: dict[str, str] = {}
        self._parameters: dict[str, tuple[str, ...]] = {}
        stack = [root]
        while stack:
            node = stack.pop()
            match node.type:
                case "preproc_def" | "enumerator" | "init_declarator":
                    name = text_of(node.child_by_field_name("name") or node.child_by_field_name("declarator"))
                    text = text_of(node.child_by_field_name("value"))
                    if name.isidentifier() and integer(text, {}) is not None:
                        self._constants.setdefault(name, text)
                case "template_declaration":
                    self._template(node)
                case "preproc_function_def":
                    macro = node.child_by_field_name("parameters")
                    names = tuple(text_of(each) for each in (macro.named_children if macro else ()))
                    self._parameters.setdefault(text_of(node.child_by_field_name("name")), names)
            stack += node.children

    def _template(self, node: Node) -> None:
        """Keep the names of a function's template parameters."""
        parameters = node.child_by_field_name("parameters")
        names = [_last_name(each) for each in (parameters.named_children if parameters else ())]
        inner: Node | None = next((c for c in node.named_children if c.type.startswith("function")), None)
        while inner is not None and inner.type not in _NAMED:
            inner = inner.child_by_field_name("declarator")
        if inner is not None:
            self._parameters.setdefault(text_of(inner), tuple(names))

    def given(self, node: Node) -> tuple[Bound, ...]:
        """The integers that a template, or a macro, is used with."""
        field = {"template_function": "name", "call_expression": "function"}.get(node.type)
        if field is None:
            return ()
        names = self._parameters.get(text_of(node.child_by_field_name(field)), ())
        arguments = node.child_by_field_name("arguments")
        if arguments is None or len(arguments.named_children) != len(names):
            return ()
        values = [integer(text_of(each), self._constants) for each in arguments.named_children]
        return tuple(
            Bound(name, "==", value)
            for name, value in zip(names, values, strict=True)
            if value is not None and name
        )

    def children(self, node: Node, outer: _Outer) -> Iterator[tuple[Node, _Outer, bool]]:
        """The nodes below one, each with what holds there and whether it is part of a condition."""
        match node.type:
            case "function_definition" | "lambda_expression":
                outer = ()
            case "if_statement" | "conditional_expression":
                yield from self._branches(node, outer)
                return
            case "switch_statement":
                yield from self._cases(node, outer)
                return
        inside = self._combines(node)
        for child in node.named_children:
            yield child, outer, inside and (self._combines(child) or child.type == "binary_expression")
            if child.type == "if_statement" and _leaves(child):
                test = self.test(child.child_by_field_name("condition"))
                outer = beneath(outer, test, negated=True)

    def _branches(self, node: Node, outer: _Outer) -> Iterator[tuple[Node, _Outer, bool]]:
        condition = node.child_by_field_name("condition")
        test = self.test(condition)
        if condition is not None:
            yield condition, outer, False
        for field, negated in (("consequence", False), ("alternative", True)):
            for child in children(node, field):
                yield child, beneath(outer, test, negated), False

    def _cases(self, node: Node, outer: _Outer) -> Iterator[tuple[Node, _Outer, bool]]:
        name = _name(node.child_by_field_name("condition"))
        body = node.child_by_field_name("body")
        for child in body.named_children if body is not None else ():
            value = integer(text_of(child.child_by_field_name("value")), self._constants)
            test = None if value is None or child.type != "case_statement" else Bound(name, "==", value)
            yield child, beneath(outer, test), False

    @staticmethod
    def _combines(node: Node) -> bool:
        """Whether a node is a condition of which parts stand below it."""
        if node.type in ("parenthesized_expression", "condition_clause"):
            return True
        sign = text_of(node.child_by_field_name("operator")) if node.type.endswith("ary_expression") else ""
        return sign in ("&&", "||", "!")

    def test(self, node: Node | None, depth: int = _DEPTH) -> Test:
        """A condition as tests of sizes."""
        if node is None or depth <= 0:
            return None
        if node.type in ("parenthesized_expression", "condition_clause"):
            inner = node.named_children
            return self.test(inner[-1], depth - 1) if inner else None
        sign = text_of(node.child_by_field_name("operator")) if node.type.endswith("ary_expression") else ""
        if sign == "!":
            return Negated(self.test(node.child_by_field_name("argument"), depth - 1))
        sides = node.child_by_field_name("left"), node.child_by_field_name("right")
        if sign in ("&&", "||"):
            return Several(sign == "&&", tuple(self.test(side, depth - 1) for side in sides))
        return self._comparison(sides, sign) if sign in _SIGNS else None

    def _comparison(self, sides: tuple[Node | None, Node | None], sign: str) -> Test:
        left, right = sides
        if integer(text_of(left), {}) is not None:
            left, right, sign = right, left, flipped(sign)
        value = integer(text_of(right), self._constants)
        if value is None and (value := integer(text_of(left), self._constants)) is not None:
            left, sign = right, flipped(sign)
        return None if value is None else _bound(left, sign, value)


def _leaves(node: Node) -> bool:
    """Whether an ``if`` has no other branch, and leaves at its end."""
    inner = node.child_by_field_name("consequence")
    if inner is not None and inner.type == "compound_statement":
        inner = inner.named_children[-1] if inner.named_children else None
    return node.child_by_field_name("alternative") is None and inner is not None and inner.type in _LEAVING


def _bound(node: Node | None, sign: str, value: int) -> Bound:
    """A comparison of an expression with an integer."""
    if node is not None and node.type == "binary_expression":
        operator = text_of(node.child_by_field_name("operator"))
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator == "%" and sign == "==" and (cut := integer(text_of(right), {})) and value < cut:
            return Bound(_name(left), "==", cut + value)
        names = _name(left), _name(right)
        if operator == "*" and all(name.isidentifier() for name in names) and names[0] != names[1]:
            return Bound("*".join(names), sign, value)
    return Bound(_name(node), sign, value)


def _name(node: Node | None) -> str:
    """What an expression is called; a text of its own where it has no name."""
    while node is not None and node.type in ("parenthesized_expression", "condition_clause"):
        node = node.named_children[-1] if node.named_children else None
    if node is None:
        return "@"
    if node.type in _NAMED:
        return text_of(node)
    field = node.child_by_field_name("field")
    return text_of(field) if field is not None else f"@{node.start_point[0]}:{node.start_point[1]}"


def _last_name(node: Node) -> str:
    """The name that a parameter declaration gives."""
    return text_of(node.child_by_field_name("declarator") or (node.named_children or [node])[-1])
