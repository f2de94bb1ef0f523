"""The parts of C++ declarations and calls in a syntax tree: names, template arguments, parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from judge_tui.checks.cuda.definitions import Parameter, TemplateParameter
from judge_tui.checks.cuda.grammar import children, text_of

if TYPE_CHECKING:
    from judge_tui.checks.cuda.grammar import Node

__all__ = [
    "call_arguments", "function_declarator", "members", "parameters", "template_parameters", "templated",
]  # fmt: skip

_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|__restrict|restrict|__grid_constant__|struct)\b")


def templated(called: Node | None) -> tuple[str, tuple[str, ...]]:
    """The name of what is called, and its template arguments.

    Args:
        called: The callee of a call, or the declarator of an instantiation.
    """
    if called is None or called.type in ("field_expression", "parenthesized_expression"):
        return "", ()
    arguments: tuple[str, ...] = ()
    node: Node | None = called
    while node is not None and node.type == "qualified_identifier":
        node = node.child_by_field_name("name")
    if node is not None and node.type == "template_function":
        held = node.child_by_field_name("arguments")
        arguments = tuple(text_of(child) for child in held.named_children) if held else ()
    return text_of(called).partition("<")[0].strip(), arguments


def call_arguments(node: Node | None) -> Iterator[str]:
    """The arguments of a call, as written.

    Args:
        node: Its argument list.
    """
    for child in node.named_children if node is not None else ():
        if child.type != "comment":
            yield text_of(child)


def template_parameters(node: Node | None) -> Iterator[TemplateParameter]:
    """The parameters of a template.

    Args:
        node: Its parameter list.
    """
    for child in node.named_children if node is not None else ():
        if child.type in ("parameter_declaration", "optional_parameter_declaration"):
            default = text_of(child.child_by_field_name("default_value"))
            name = text_of(child.child_by_field_name("declarator"))
            yield TemplateParameter(text_of(child.child_by_field_name("type")), name, default)
        elif child.type in ("type_parameter_declaration", "optional_type_parameter_declaration"):
            name = text_of(child.child_by_field_name("name")) or text_of(
                child.named_children[0] if child.named_children else None
            )
            yield TemplateParameter("typename", name, text_of(child.child_by_field_name("default_type")))


def parameters(node: Node | None) -> Iterator[Parameter]:
    """The parameters of a function.

    Args:
        node: Its parameter list.
    """
    for child in node.named_children if node is not None else ():
        if child.type not in ("parameter_declaration", "optional_parameter_declaration"):
            continue
        yield _parameter(child, child.child_by_field_name("declarator"))


def members(body: Node | None) -> tuple[Parameter, ...]:
    """The members of a struct that has nothing else; none where there are functions, or bases of its own.

    Args:
        body: Its list of declarations.
    """
    found: list[Parameter] = []
    for child in body.named_children if body is not None else ():
        if child.type == "comment":
            continue
        declared = children(child, "declarator") if child.type == "field_declaration" else []
        if not declared or any(function_declarator(each) is not None for each in declared):
            return ()
        found += [_parameter(child, each) for each in declared]
    return tuple(found)


def _parameter(declaration: Node, declarator: Node | None) -> Parameter:
    kind = text_of(declaration.child_by_field_name("type"))
    # a sized type such as "unsigned long long" may stand beside qualifiers
    const = any(text_of(part) == "const" for part in declaration.children if part.type == "type_qualifier")
    name, pointers = _declared(declarator)
    default = text_of(declaration.child_by_field_name("default_value"))
    return Parameter(" ".join(_QUALIFIERS.sub(" ", kind).split()), name, pointers, const, default)


def _declared(node: Node | None) -> tuple[str, int]:
    """Name and levels of indirection of a declarator."""
    pointers = 0
    while node is not None and node.type not in ("identifier", "field_identifier", "type_identifier"):
        if "pointer" in node.type or "array" in node.type or "reference" in node.type:
            pointers += 1
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in node.named_children if c.type != "type_qualifier" and _holds(c)), None)
        node = inner
    return text_of(node), pointers


def _holds(node: Node) -> bool:
    return node.type == "identifier" or node.type.endswith("declarator")


def function_declarator(node: Node | None) -> Node | None:
    """The part of a declarator that holds a function's name and parameters.

    Args:
        node: The declarator.
    """
    for _level in range(8):
        if node is None or node.type == "function_declarator":
            return node
        inner: Iterable[Node] = children(node, "declarator") or node.named_children
        node = next((child for child in inner if child.type.endswith("declarator")), None)
    return None
