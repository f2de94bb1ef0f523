"""Integers of a submission's source: about them its code may take another path.

A chunk, a split, a vector width: code that is right below such a size may be wrong above it, and sizes that
are drawn blindly stay below. What stands in a comparison decides a path for certain, what steps or cuts an
axis does so where the last piece is short; any other integer may. Where tiles are counted against a number of
tiles, the path is decided by the product of two integers, of which neither says anything of it alone.
"""

from __future__ import annotations

import ast
import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judge_tui.checks.cuda.constants import folded, integer
from judge_tui.checks.cuda.grammar import parse, text_of
from judge_tui.checks.faults import Skipped
from judge_tui.checks.sources import is_side_program, parsed
from judge_tui.checks.submission import Submission

if TYPE_CHECKING:
    from judge_tui.checks.cuda.grammar import Node

__all__ = ["CUDA", "MOST", "MOST_FILES", "Integer", "integers", "is_beside", "products"]

#: Integers below are sizes that are drawn anyway, those above no size of an axis.
_LEAST, MOST = 2, 1 << 20
#: Files of one submission that are read.
MOST_FILES = 64
CUDA = (".cu", ".cuh")
#: The largest factor of a product, the least product, and how many of each there are at most.
_FACTOR, _PRODUCT, _FACTORS, _PRODUCTS = 512, 65, 100, 3

_STANDS, _CUTS, _DECIDES = range(3)
_CUTTING = frozenset(
    {"range", "arange", "min", "max", "minimum", "array_split", "split", "islice", "batched"}
)
_COMPARING = frozenset({"<", ">", "<=", ">=", "==", "!="})
_DIVIDING = frozenset({"/", "%"})


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer of a source.

    Attributes:
        value: It.
        file: Relative name of the file that it stands in.
        line: 1-based.
        doubt: How likely it is that code takes another path about it; more is likelier.
        factors: Of a product: what it is of.
    """

    value: int
    file: str
    line: int
    doubt: int
    factors: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.value} stands in {self.file}:{self.line}"

    @property
    def named(self) -> str:
        """It, and of what it is the product."""
        return f"{self.value} = {' · '.join(map(str, self.factors))}" if self.factors else str(self.value)


def integers(submission: Submission) -> tuple[Integer, ...]:
    """The integers of a submission that may be sizes: each value once, where it is doubted most.

    Tests, demos and benchmarks are left out, and what cannot be read.
    """
    found: dict[int, Integer] = {}
    names = [name for name in submission.files if not is_side_program(name)]
    for name in names[:MOST_FILES]:
        for one in _read(name, submission.read_bytes(name)):
            known = found.get(one.value)
            if _LEAST <= one.value <= MOST and (known is None or known.doubt < one.doubt):
                found[one.value] = one
    return tuple(found[value] for value in sorted(found))


def products(submission: Submission) -> tuple[Integer, ...]:
    """Products of two integers of one file, those that the source multiplies first; few.

    Factors are small and in doubt themselves: they cut an axis, or are compared with. A product that stands
    in the source is left out, and one that is a size which is drawn anyway.
    """
    stand = {one.value for one in integers(submission)}
    found: dict[int, tuple[bool, Integer]] = {}
    names = [name for name in submission.files if not is_side_program(name)]
    for name in names[:MOST_FILES]:
        seen = _seen(name, submission.read_bytes(name))
        for written, one in seen.products(name):
            known = found.get(one.value)
            if one.value not in stand and (
                known is None or (known[0], known[1].doubt) < (written, one.doubt)
            ):
                found[one.value] = written, one
    ranked = sorted(found.values(), key=lambda pair: (not pair[0], -pair[1].doubt, pair[1].value))
    return tuple(one for _written, one in ranked[:_PRODUCTS])


def _read(name: str, data: bytes) -> Iterator[Integer]:
    yield from _seen(name, data).integers(name)


def _seen(name: str, data: bytes) -> _Seen:
    seen = _Seen()
    # what is no code has no integers, and other checks say so
    with suppress(SyntaxError, Skipped):
        if name.endswith(".py"):
            _python(parsed(data), seen)
        elif name.endswith(CUDA):
            _cuda(parse(data), seen)
    return seen


@dataclass(slots=True)
class _Seen:
    """What one file says.

    Attributes:
        literals: Value, line and doubt of integers where they are used.
        named: Name → values and lines that it is given.
        used: Name → how much doubt its uses bring.
        multiplied: Names that are multiplied by each other.
    """

    literals: list[tuple[int, int, int]] = field(default_factory=list)
    named: defaultdict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    used: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    multiplied: set[frozenset[str]] = field(default_factory=set)

    def use(self, name: str, doubt: int) -> None:
        self.used[name] = max(self.used[name], doubt)

    def integers(self, file: str) -> Iterator[Integer]:
        for value, line, doubt in self.literals:
            yield Integer(value, file, line, doubt)
        for name, given in self.named.items():
            for value, line in given:
                yield Integer(value, file, line, self.used[name])

    def products(self, file: str) -> Iterator[tuple[bool, Integer]]:
        """Products of two integers, of which one is named, and whether the source multiplies them."""
        named = [
            (name, value, line, self.used[name])
            for name, given in self.named.items()
            for value, line in given
        ]
        plain = [("", value, line, doubt) for value, line, doubt in self.literals]
        factors = sorted({one for one in (*named, *plain) if _LEAST <= one[1] <= _FACTOR}, key=_doubted)
        for one, other in itertools.combinations(factors[:_FACTORS], 2):
            written = frozenset((one[0], other[0])) in self.multiplied
            few = one[1] == other[1] or one[1] * other[1] < _PRODUCT or not (one[0] or other[0])
            if not few and (written or min(one[3], other[3]) >= _CUTS):
                least, most = sorted((one[1], other[1]))
                line = max(one[2], other[2])
                yield written, Integer(least * most, file, line, one[3] + other[3], (least, most))


def _doubted(factor: tuple[str, int, int, int]) -> tuple[int, str, int]:
    """What is doubted most, and what has a name, comes first."""
    name, _value, line, doubt = factor
    return -doubt, "" if name else "~", line


def _python(tree: ast.Module, seen: _Seen) -> None:
    stack: list[tuple[ast.AST, int]] = [(tree, _STANDS)]
    while stack:
        node, doubt = stack.pop()
        if is_beside(node):
            continue
        doubt = max(doubt, _brought(node))
        if isinstance(node, ast.expr) and (value := folded(node, {})) is not None:
            seen.literals.append((value, node.lineno, doubt))
            continue
        for name, given in _given(node):
            if (value := folded(given, {})) is not None:
                seen.named[name].append((value, given.lineno))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            seen.multiplied.add(frozenset((_name(node.left), _name(node.right))))
        if isinstance(node, ast.Name):
            seen.use(node.id, doubt)
        elif isinstance(node, ast.Attribute):
            seen.use(node.attr, doubt)
        stack += [(child, doubt) for child in ast.iter_child_nodes(node)]


def _name(node: ast.AST) -> str:
    """The last part of a name; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def is_beside(node: ast.AST) -> bool:
    """Whether a node is the submission's own test or main program, whose sizes are no paths of its answer."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name.lower().startswith("test")
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
    return False


def _brought(node: ast.AST) -> int:
    """How much doubt a node brings to what stands in it."""
    match node:
        case ast.Compare():
            return _DECIDES
        case ast.Slice() | ast.BinOp(op=ast.FloorDiv() | ast.Mod()):
            return _CUTS
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called in _CUTTING:
            return _CUTS
    return _STANDS


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names that a node gives values to."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _targets(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _targets(target, value)
        case ast.keyword(arg=str(name), value=value):
            yield name, value
        case ast.arguments():
            plain = [*node.posonlyargs, *node.args]
            for arg, default in zip(plain[len(plain) - len(node.defaults) :], node.defaults, strict=True):
                yield arg.arg, default
            for arg, given in zip(node.kwonlyargs, node.kw_defaults, strict=True):
                if given is not None:
                    yield arg.arg, given


def _targets(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=name) | ast.Attribute(attr=name), _:
            yield name, value
        case (
            (ast.Tuple(elts=names) | ast.List(elts=names)),
            (ast.Tuple(elts=values) | ast.List(elts=values)),
        ):
            for one, given in zip(names, values, strict=False):
                yield from _targets(one, given)


def _cuda(root: Node, seen: _Seen) -> None:
    constants: dict[str, str] = {}
    stack: list[tuple[Node, int]] = [(root, _STANDS)]
    while stack:
        node, doubt = stack.pop()
        doubt = max(doubt, _brought_there(node))
        line = int(node.start_point[0]) + 1
        match node.type:
            case "number_literal" | "binary_expression":
                if (value := integer(text_of(node), {})) is not None:
                    seen.literals.append((value, line, doubt))
                    continue
            case "identifier" | "field_identifier":
                seen.use(text_of(node), doubt)
            case "preproc_def" | "enumerator" | "init_declarator" | "optional_parameter_declaration":
                _named_there(node, line, constants, seen)
        stack += [(child, doubt) for child in reversed(node.children)]


def _brought_there(node: Node) -> int:
    if node.type == "kernel_call_syntax":
        return _CUTS
    if node.type != "binary_expression":
        return _STANDS
    operator = text_of(node.child_by_field_name("operator"))
    return _DECIDES if operator in _COMPARING else _CUTS if operator in _DIVIDING else _STANDS


def _named_there(node: Node, line: int, constants: dict[str, str], seen: _Seen) -> None:
    fields: Mapping[str, Node | None] = {
        field: node.child_by_field_name(field) for field in ("name", "declarator", "value", "default_value")
    }
    name = text_of(fields["name"] or fields["declarator"])
    text = text_of(fields["value"] or fields["default_value"])
    if name.isidentifier() and text:
        constants.setdefault(name, text)
        if (value := integer(text, constants)) is not None:
            seen.named[name].append((value, line))
