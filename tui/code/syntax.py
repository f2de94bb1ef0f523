"""The syntax of a file: one tree of a file of the usual size, trees of the parts in view of a large one.

A tree takes forty times the memory of its text. Of a large file one pass finds where its definitions and
statements begin; afterwards a part is parsed when it is looked at, in less than a millisecond.
"""

from __future__ import annotations

import re
import time
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from judge_tui.tui.code.symbols import Symbol, outline
from judge_tui.tui.code.text_lines import TextLines

__all__ = ["Syntax"]

#: Characters of a file up to which its tree is kept.
_WHOLE = 200_000
#: Characters that the first pass parses at once, and of a definition from which on its tree is kept.
_STEP = 64_000
_KEPT = 16_000
#: How many times as much is parsed where a definition does not end.
_GROWTH = 4
_READ = 2048
_BEGINNING = re.compile(r"[A-Za-z_@]")


class Syntax:
    """What tree-sitter reads in a file; made in a thread, asked anywhere.

    Args:
        lines: The lines of the file.
        language: The tree-sitter language.

    Attributes:
        symbols: Definitions, in the order of the file.
        complete: Whether these are all.
    """

    def __init__(self, lines: TextLines, language: Any) -> None:
        self._lines, self._language = lines, language
        #: First lines of the parts; those whose tree is kept, by that line.
        self._parts = array("I")
        self._trees: dict[int, Any] = {}
        symbols: list[Symbol] = []
        self.complete = True
        first = 0
        while first < len(lines):
            first = self._take(first, symbols)
        self.symbols = tuple(symbols)

    def roots(self, first: int = 0, last: int | None = None) -> Iterator[Any]:
        """Root nodes of the trees that hold lines ``first`` to ``last``, with the places of the file.

        A definition is never in two of them.
        """
        last = len(self._lines) - 1 if last is None else last
        at, end = bisect_right(self._parts, first) - 1, bisect_right(self._parts, last)
        while at < end:
            tree = self._trees.get(self._parts[at])
            following = at + 1 if tree is not None else self._run(at, end)
            if tree is None:
                tree = self._parse(self._parts[at], self._first(following))
            yield tree.root_node
            at = following

    def _run(self, at: int, end: int) -> int:
        """The part after those that are parsed together."""
        starts = self._lines.starts
        most = starts[self._parts[at]] + _STEP
        after = at + 1
        while after < end and self._parts[after] not in self._trees and starts[self._first(after + 1)] < most:
            after += 1
        return after

    def _first(self, part: int) -> int:
        return self._parts[part] if part < len(self._parts) else len(self._lines)

    # the first pass

    def _take(self, first: int, symbols: list[Symbol]) -> int:
        """Read on from a line; the line at which to read on."""
        starts, lines = self._lines.starts, self._lines
        small = starts[-1] <= _WHOLE
        size = starts[-1] if small else _STEP
        while True:
            end = self._likely_end(starts[first] + size)
            tree = self._parse(first, end, politely=True)
            nodes = tree.root_node.children
            if end == len(lines):
                break
            nodes = [] if tree.root_node.is_error else _whole(nodes, first)
            if nodes:
                end = nodes.pop().start_point[0]
                break
            size *= _GROWTH
        self.complete = outline(nodes, symbols) and self.complete
        if small or any(node.end_byte - node.start_byte > _KEPT for node in nodes):
            self._trees[first] = tree
            self._parts.append(first)
        else:
            self._parts.extend(_beginnings(nodes, first))
        return end

    def _likely_end(self, offset: int) -> int:
        """The next line that looks like the beginning of a definition: what stands before it is whole."""
        lines = self._lines
        for number in range(lines.at(offset) + 1, len(lines)):
            if _BEGINNING.match(lines.part(number, 0, 1)):
                return number
        return len(lines)

    def _parse(self, first: int, end: int, *, politely: bool = False) -> Any:
        """The tree of some lines, its rows being those of the file.

        Args:
            first: First line.
            end: Line after the last.
            politely: Give the screen its turn again and again: the parser holds the interpreter's lock.
        """
        from tree_sitter import Parser, Point, Range

        data = f"{self._lines.span(first, end - 1)}\n".encode("utf-8", "surrogateescape")
        parser = Parser(self._language, included_ranges=[Range(Point(first, 0), Point(end, 0), 0, len(data))])
        if not politely or len(data) < 4 * _READ:
            return parser.parse(data)

        parsing = True

        def part(offset: int, _point: object) -> bytes:
            if parsing:
                time.sleep(0)
            return data[offset : offset + _READ]

        tree = parser.parse(part)
        parsing = False
        return tree


def _whole(nodes: Sequence[Any], first: int) -> list[Any]:
    """Nodes that the cut behind them has left whole, and the one that begins a line there; else none."""
    wrong = next((at for at, node in enumerate(nodes) if node.has_error), len(nodes) - 1)
    for at in range(wrong, 0, -1):
        if _begins_line(nodes[at - 1], nodes[at]) and nodes[at].start_point[0] > first:
            return list(nodes[: at + 1])
    return []


def _begins_line(before: Any, node: Any) -> bool:
    row, column = before.end_point
    return bool(node.start_point[0] > row or (node.start_point[0] == row and column == 0))


def _beginnings(nodes: Sequence[Any], first: int) -> Iterator[int]:
    """Lines at which a part may begin: the first one, and those with nothing of an earlier node."""
    yield first
    for before, node in pairwise(nodes):
        if _begins_line(before, node) and node.start_point[0] > first:
            yield node.start_point[0]
