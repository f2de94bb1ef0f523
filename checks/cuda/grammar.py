"""The syntax tree of a CUDA source, by tree-sitter-cuda.

The one module of ``checks`` that needs a package beyond NumPy and msgspec; it is imported when
a CUDA source is to be read, and where the grammar is missing that is said in a sentence.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from judge_tui.checks.faults import Skipped

if TYPE_CHECKING:
    from tree_sitter import Node as Node  # noqa: PLC0414 - others take it from here
    from tree_sitter import Parser

__all__ = ["MOST_SOURCE", "broken", "children", "parse", "text_of"]

#: Bytes of a source past which no tree is made of it.
MOST_SOURCE = 2 << 20


@functools.cache
def _parser() -> Parser:
    try:
        import tree_sitter_cuda
        from tree_sitter import Language, Parser
    except ImportError as error:
        raise Skipped(
            f"CUDA sources are read with tree-sitter-cuda, which is not installed ({error.name})"
        ) from error
    return Parser(Language(tree_sitter_cuda.language()))


def parse(source: bytes) -> Node:
    """The root of a source's syntax tree.

    Args:
        source: UTF-8 text of a ``.cu`` or ``.cuh`` file.

    Raises:
        Skipped: The grammar is not installed, or the source too large for it.
    """
    if len(source) > MOST_SOURCE:
        raise Skipped(f"a CUDA source of {len(source) >> 20} MiB is too large to be read")
    return _parser().parse(source).root_node


def text_of(node: Node | None) -> str:
    """A node's source text; empty for none."""
    return node.text.decode("utf-8", "replace") if node is not None and node.text is not None else ""


def children(node: Node, field: str) -> list[Node]:
    """A node's children under a field name."""
    return node.children_by_field_name(field)


def broken(root: Node, most: int = 20) -> Iterator[tuple[int, str]]:
    """Lines that are no CUDA, 1-based, with what stands there; the grammar expands no macros.

    Args:
        root: Of the tree.
        most: How many are told.
    """
    stack = [root]
    while stack and most:
        node = stack.pop()
        if node.is_missing or node.type == "ERROR":
            most -= 1
            told = f"missing '{node.type}'" if node.is_missing else " ".join(text_of(node).split())[:60]
            yield node.start_point[0] + 1, told
        elif node.has_error:
            stack += reversed(node.children)
