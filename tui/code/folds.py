"""What of a file can be folded: definitions, statements, comments and displays of several lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge_tui.tui.code.syntax import Syntax

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["fold_at"]

#: Ends of the names of tree-sitter's nodes. A decorated definition or a template is no fold: its first
#: line would hide the name.
_KINDS = (
    "function_definition",
    "class_definition",
    "_statement",
    "_clause",
    "_specifier",
    "namespace_definition",
    "comment",
    "declaration",
    "dictionary",
    "list",
    "tuple",
    "preproc_if",
    "preproc_ifdef",
)
_NEVER = ("template_declaration", "compound_statement")


def fold_at(syntax: Syntax, line: int, column: int) -> tuple[int, int] | None:
    """The innermost fold around a place.

    Args:
        syntax: What is known of the file's syntax.
        line: 0-based line.
        column: Byte of the line at which its text begins.

    Returns:
        Its first and last line, 0-based; ``None`` where nothing can be folded.
    """
    place = (line, column)
    node = next(syntax.roots(line, line)).named_descendant_for_point_range(place, place)
    while node is not None:
        first, last = node.start_point[0], _last_line(node)
        if last > first and node.type.endswith(_KINDS) and node.type not in _NEVER:
            return first, last
        node = node.parent
    return None


def _last_line(node: Node) -> int:
    row, column = node.end_point
    # a node that ends with a line feed ends at the start of the next line
    return row if column else row - 1
