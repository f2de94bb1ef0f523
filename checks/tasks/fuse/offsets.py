"""Where a row begins: row · V past 2³¹ entries, told from the source by its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.cuda.constants import integer
from judge_tui.checks.cuda.grammar import parse, text_of
from judge_tui.checks.cuda.repairs import lines_in_front
from judge_tui.checks.faults import Skipped
from judge_tui.checks.sources import is_side_program
from judge_tui.checks.tasks.fuse.signature import means
from judge_tui.checks.tasks.fuse.subject import subject_of
from judge_tui.checks.verdict import Verdict

if TYPE_CHECKING:
    from judge_tui.checks.cuda.grammar import Node

__all__ = ["offsets"]

#: Types of 64 bits, as they are written.
_WIDE = re.compile(r"\b(?:u?int64_t|s?size_t|ptrdiff_t|u?intptr_t|long|ulong|index64|ll|i64|u64)\b")
_NARROW = re.compile(r"\b(?:int|unsigned|u?int32_t|u?int16_t|short|char|uint|bool)\b")
_LONG = re.compile(r"\d[uU]?[lL]")
#: What a row's number is called where a function is handed it.
_ROW = re.compile(r"^(?:\w*_)?(?:row|rows?_?(?:id|idx|index|i)|bt|token_?(?:id|idx|index)?)$", re.I)
_SHOWN = 6
_LARGE = 2**31


@check(
    "offsets",
    "32-bit offsets",
    establishes="The place where a row begins, row · V, is computed in 64 bits: 32 hold 2³¹ entries, which "
    "16,745 rows of 128,256 logits exceed.",
    version=2,
    optional=True,
    host=True,
    apart=True,
)
def offsets(bench: Bench, found: Findings) -> str:
    """Look in device code for products of a row's number and V of which every factor has 32 bits."""
    subject = subject_of(bench)
    seen: list[_Product] = []
    for file, data in subject.mended.files.items():
        if not is_side_program(file) or len(subject.mended.files) == 1:
            seen += _products(file, data, subject.reading.constants)
    if not seen:
        raise Skipped("no product of a row's number and the length of a row is found in its device code")
    narrow = [each for each in seen if not each.wide]
    for each in narrow[:_SHOWN]:
        found.claim(
            "where a row begins is computed in 64 bits", False, measured=each.text, limit="64-bit factors",
            otherwise=Verdict.WARN, file=each.file, line=each.line,
            note=f"Both factors have 32 bits: past {_LARGE} entries of all rows together it wraps.",
        )  # fmt: skip
    if narrow:
        first = narrow[0]
        return f"{first.text} at {first.file}:{first.line} wraps past 2³¹ entries: its factors have 32 bits"
    found.claim("where a row begins is computed in 64 bits", True, measured=f"{len(seen)} products")
    return f"{len(seen)} products of a row's number and V, all in 64 bits"


@dataclass(frozen=True, slots=True)
class _Product:
    file: str
    line: int
    text: str
    wide: bool


@dataclass(slots=True)
class _Scope:
    """What the names of a function stand for.

    Attributes:
        types: Name → its type, as written.
        values: Name → what it is set to first.
        constants: Named constants of all sources.
    """

    constants: dict[str, str]
    types: dict[str, str] = field(default_factory=dict)
    values: dict[str, Node] = field(default_factory=dict)

    def wide(self, node: Node | None, depth: int = 8) -> bool:
        """Whether an expression has 64 bits; what nobody can tell is taken to have."""
        if node is None or depth == 0:
            return True
        match node.type:
            case "number_literal":
                return bool(_LONG.search(text_of(node)))
            case "identifier":
                return self._named(text_of(node), depth)
            case "cast_expression":
                return _is_wide(text_of(node.child_by_field_name("type")))
            case "call_expression":
                called = text_of(node.child_by_field_name("function"))
                cast = re.fullmatch(r"static_cast\s*<(.*)>", called, re.S)
                return _is_wide(cast[1] if cast else called)
            case "field_expression":
                return not re.match(r"(?:blockIdx|threadIdx|blockDim|gridDim)\b", text_of(node))
            case "parenthesized_expression" | "unary_expression":
                return any(self.wide(child, depth - 1) for child in node.named_children)
            case "binary_expression" | "conditional_expression":
                return any(self.wide(child, depth - 1) for child in node.named_children)
        return True

    def _named(self, name: str, depth: int) -> bool:
        kind = self.types.get(name, "")
        if "auto" in kind:
            return self.wide(self.values.get(name), depth - 1)
        if kind:
            return _is_wide(kind)
        return integer(name, self.constants) is None and not name.isupper()

    def is_length(self, node: Node) -> bool:
        """Whether a factor may be how long a row is: a name that hangs on no block."""
        return bool(re.fullmatch(r"[A-Za-z_]\w*", _bare(node))) and not self.of_row(node)

    def of_row(self, node: Node, depth: int = 6) -> bool:
        """Whether an expression hangs on the number of a block, or of a row that the function is handed."""
        if depth == 0:
            return False
        for each in _inside(node):
            name = text_of(each) if each.type == "identifier" else ""
            if name == "blockIdx" or (_ROW.match(name) and name not in self.values and name in self.types):
                return True
            value = self.values.get(name)
            if value is not None and not _holds(value, node) and self.of_row(value, depth - 1):
                return True
        return False


def _bare(node: Node) -> str:
    """The name behind casts and brackets: V of ``static_cast<size_t>(V)``."""
    while node.type in ("cast_expression", "call_expression", "parenthesized_expression"):
        inner = node.child_by_field_name("value") or node.child_by_field_name("arguments")
        children = (inner or node).named_children
        if inner is not None and inner.type != "argument_list":
            node = inner
        elif len(children) == 1:
            node = children[0]
        else:
            break
    return text_of(node)


def _is_wide(kind: str) -> bool:
    return bool(_WIDE.search(kind)) or not _NARROW.search(kind)


def _inside(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        each = stack.pop()
        yield each
        stack += reversed(each.children)


def _holds(outer: Node, inner: Node) -> bool:
    return bool(outer.start_byte <= inner.start_byte and inner.end_byte <= outer.end_byte)


def _products(file: str, data: bytes, constants: dict[str, str]) -> Iterator[_Product]:
    """Products of a row's number and V in a file's device functions."""
    before = lines_in_front(data)
    for function in _inside(parse(data)):
        kinds = {child.type for child in function.children}
        if function.type != "function_definition" or not kinds & {"__global__", "__device__"}:
            continue
        scope, inputs = _scope(function, constants), _inputs(function)
        body = function.child_by_field_name("body")
        for node in _inside(body) if body is not None else ():
            if node.type != "binary_expression" or text_of(node.child_by_field_name("operator")) != "*":
                continue
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is None or right is None:
                continue
            pairs = ((left, right), (right, left))
            beside = _beside(node)
            if any(
                (means(_bare(one)) == "V" or (beside in inputs and scope.is_length(one)))
                and scope.of_row(other)
                for one, other in pairs
            ):
                line = max(1, int(node.start_point[0]) + 1 - before)
                text = re.sub(r"\s+", " ", text_of(node))
                yield _Product(file, line, text, scope.wide(left) or scope.wide(right))


def _inputs(function: Node) -> set[str]:
    """Names of pointers to what is only read, which a function is handed."""
    return {
        text_of(each)
        for node in _inside(function)
        if node.type == "parameter_declaration" and re.search(r"\bconst\b", text_of(node).partition("*")[0])
        for each in _inside(node)
        if each.type == "identifier" and "*" in text_of(node)
    }


def _beside(node: Node) -> str:
    """The array that an expression is added to, or indexes; empty where there is none."""
    inner, outer = node, node.parent
    while outer is not None:
        if outer.type == "binary_expression" and text_of(outer.child_by_field_name("operator")) == "+":
            for child in outer.named_children:
                if child.id != inner.id and child.type == "identifier":
                    return text_of(child)
        elif outer.type == "subscript_expression":
            return text_of(outer.child_by_field_name("argument"))
        elif outer.type not in ("parenthesized_expression", "subscript_argument_list"):
            return ""
        inner, outer = outer, outer.parent
    return ""


def _scope(function: Node, constants: dict[str, str]) -> _Scope:
    scope = _Scope(constants)
    for node in _inside(function):
        if node.type in ("parameter_declaration", "declaration"):
            kind = text_of(node.child_by_field_name("type"))
            for child in node.children_by_field_name("declarator"):
                name = child.child_by_field_name("declarator") if child.type == "init_declarator" else child
                value = child.child_by_field_name("value") if child.type == "init_declarator" else None
                if name is not None and name.type == "identifier":
                    scope.types.setdefault(text_of(name), kind)
                    if value is not None:
                        scope.values.setdefault(text_of(name), value)
    return scope
