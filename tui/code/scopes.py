"""Names that mean something of their own where they stand: parameters and locals of the functions there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["own_names"]

#: A function has fewer nodes, or is looked through as far as that.
_MOST_NODES = 20_000
_FUNCTIONS = {"function_definition", "lambda", "lambda_expression"}
_COMPREHENSIONS = {
    "list_comprehension",
    "set_comprehension",
    "dictionary_comprehension",
    "generator_expression",
}
#: What has names of its own: those within are not the function's.
_APART = _FUNCTIONS | _COMPREHENSIONS | {"class_definition", "class_specifier", "struct_specifier"}
#: Node → the fields of it in which a name is bound.
_BINDING = {
    "assignment": ("left",),
    "augmented_assignment": ("left",),
    "named_expression": ("name",),
    "for_statement": ("left",),
    "for_in_clause": ("left",),
    "as_pattern": ("alias",),
    "declaration": ("declarator",),
    "parameter_declaration": ("declarator",),
    "optional_parameter_declaration": ("declarator",),
    "for_range_loop": ("declarator",),
    "default_parameter": ("name",),
    "typed_default_parameter": ("name",),
}
#: What a target or a declarator consists of, down to its name.
_WITHIN = {
    "pattern_list",
    "tuple_pattern",
    "list_pattern",
    "list_splat_pattern",
    "dictionary_splat_pattern",
    "as_pattern_target",
    "typed_parameter",
    "init_declarator",
    "pointer_declarator",
    "reference_declarator",
    "array_declarator",
    "structured_binding_declarator",
}
#: Where parameters stand alone.
_PARAMETERS = {"parameters", "lambda_parameters", "typed_parameter"}


def own_names(node: Any) -> frozenset[str] | None:
    """The names that a node of a syntax tree keeps to itself; ``None`` where it is no function.

    Args:
        node: Anything; functions, lambdas and comprehensions have parameters and locals.
    """
    return frozenset(_names(node)) if node.type in _FUNCTIONS or node.type in _COMPREHENSIONS else None


def _names(function: Any) -> set[str]:
    """Parameters and locals of one function or comprehension."""
    bound: set[str] = set()
    elsewhere: set[str] = set()
    stack = list(function.named_children)
    visited = 0
    while stack and visited < _MOST_NODES:
        node = stack.pop()
        visited += 1
        if node.type in ("global_statement", "nonlocal_statement"):
            elsewhere |= {_text(child) for child in node.named_children}
            continue
        for field in _BINDING.get(node.type, ()):
            for target in node.children_by_field_name(field):
                bound |= set(_targets(target))
        if node.type in _PARAMETERS:
            for child in node.named_children:
                bound |= set(_targets(child))
        if node.type not in _APART:
            stack += node.named_children
    return bound - elsewhere


def _targets(node: Any) -> Iterator[str]:
    """Names that a target, a parameter or a declarator binds."""
    if node.type == "identifier":
        yield _text(node)
    elif node.type in ("init_declarator", "array_declarator"):
        declared = node.child_by_field_name("declarator")
        if declared is not None:
            yield from _targets(declared)
    elif node.type == "typed_parameter":
        yield from _targets(node.named_children[0])
    elif node.type in _WITHIN:
        for child in node.named_children:
            yield from _targets(child)


def _text(node: Any) -> str:
    return bytes(node.text or b"")[:200].decode("utf-8", "replace")
