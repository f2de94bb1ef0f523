"""Which function of one submission answers which of another, and which line stands for which.

Submissions have no common ancestor: definitions are matched by how alike they are (:mod:`likeness`), and none
by a word that its name happens to share. Plain Python; run :func:`match` in a thread.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from itertools import zip_longest

from msgspec import Struct

from judge_tui.tui.code.likeness import Comparison, Definition, definitions
from judge_tui.tui.code.source import Source
from judge_tui.tui.code.symbols import Symbol, enclosing

__all__ = ["Alignment", "match"]

#: Above so many pairs only definitions of one name are compared, each with as many as that leaves to it.
_MOST_PAIRS, _FEWEST = 40_000, 4
#: Pairs that are put in order at once, a hold of the interpreter's lock.
_STRETCH = 5_000


class Alignment(Struct, frozen=True):
    """Matched definitions of two files.

    Attributes:
        left: Definitions of the first file.
        right: Definitions of the second.
        pairs: Index into ``left`` → index into ``right``.
    """

    left: Sequence[Symbol]
    right: Sequence[Symbol]
    pairs: Mapping[int, int]

    def reversed(self) -> Alignment:
        """The same, seen from the other side."""
        return Alignment(self.right, self.left, {b: a for a, b in self.pairs.items()})

    def around(self, line: int) -> tuple[Symbol, Symbol | None] | None:
        """The innermost definition round a line of the first file, and its match if it has one.

        A function within a function goes with the outer one when it has no match of its own.
        """
        holding = list(enclosing(self.left, line))
        for n, outer in zip_longest(holding, holding[1:]):
            if n in self.pairs:
                return self.left[n], self.right[self.pairs[n]]
            if outer is None or self.left[outer].kind != "function":
                return self.left[n], None
        return None

    def lines(self, first: int, last: int) -> tuple[int, int] | None:
        """Lines of the second file for lines of the first, 1-based; ``None`` outside matched definitions."""
        found = self.around(first - 1)
        if found is None:
            return None
        ours, theirs = found
        if theirs is None:
            return None
        end = theirs.end + 1
        return min(theirs.line + first - ours.line, end), min(theirs.line + last - ours.line, end)

    def line(self, line: int) -> int | None:
        """The line of the second file that stands for one of the first; ``None`` without a match.

        Lines of matched definitions are counted from their beginnings; what lies between definitions
        goes with the one before it.
        """
        found = self.around(line)
        if found is not None:
            ours, theirs = found
            return None if theirs is None else min(theirs.line + line - ours.line, theirs.end)
        before = [n for n in self.pairs if self.left[n].end < line]
        if not before:
            return line
        last = max(before, key=lambda n: self.left[n].end)
        return self.right[self.pairs[last]].end + line - self.left[last].end


def match(left: tuple[Source, Sequence[Symbol]], right: tuple[Source, Sequence[Symbol]]) -> Alignment:
    """Match the definitions of two files, each with at most one of the other.

    Args:
        left: A file and its definitions.
        right: Another.
    """
    ours, theirs = (list(definitions(*side)) for side in (left, right))
    likeness = Comparison(ours, theirs)
    scored = [(-alike, abs(a - b), -a, -b) for a, b in _candidates(ours, theirs) if (alike := likeness(a, b))]
    # the best first, of equal ones the nearest
    stretches = (sorted(scored[at : at + _STRETCH]) for at in range(0, len(scored), _STRETCH))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, a, b in merge(*stretches):
        if -a not in pairs and -b not in taken:
            pairs[-a] = -b
            taken.add(-b)
    return Alignment(left[1], right[1], pairs)


def _candidates(ours: Sequence[Definition], theirs: Sequence[Definition]) -> Iterator[tuple[int, int]]:
    """Pairs that may be a match: all of one kind, and in large files those of one name."""
    if len(ours) * len(theirs) > _MOST_PAIRS:
        yield from _namesakes(ours, theirs, max(_MOST_PAIRS // len(ours), _FEWEST))
        return
    by_kind: defaultdict[str, list[int]] = defaultdict(list)
    for b, definition in enumerate(theirs):
        by_kind[definition.kind].append(b)
    for a, definition in enumerate(ours):
        for b in by_kind[definition.kind]:
            yield a, b


def _namesakes(
    ours: Sequence[Definition], theirs: Sequence[Definition], most: int
) -> Iterator[tuple[int, int]]:
    """Pairs of one name, so many for each of ours: those within definitions of one name, then the nearest."""
    places: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for b, definition in enumerate(theirs):
        for key in _keys(definition):
            places[key].append(b)
    # the first of a name goes with the first, and so on
    passed: Counter[tuple[str, ...]] = Counter()
    for a, definition in enumerate(ours):
        found: dict[int, None] = {}
        for key in _keys(definition):
            found |= dict.fromkeys(_nearest(places[key], passed[key], most - len(found)))
            passed[key] += 1
        yield from ((a, b) for b in found)


def _keys(definition: Definition) -> tuple[tuple[str, ...], ...]:
    named = definition.kind, definition.name
    return (*named, definition.around), named


def _nearest(places: Sequence[int], at: int, most: int) -> Sequence[int]:
    """So many of some places round one of them."""
    first = max(min(at - most // 2, len(places) - most), 0)
    return places[first : first + most]
