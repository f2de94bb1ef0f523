"""Lines of two or three texts beside each other: like beside like, gaps where one has nothing.

The texts have no common ancestor, so that few lines are equal: lines are paired by how alike they are.
Plain Python; run it in a thread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["aligned", "changed"]

#: Lines less alike than this are not the same line written differently.
_LEAST = 0.55
#: A pair of blank lines counts, but never more than a pair of lines with something in them.
_BLANK = 0.05
#: Above so many pairs of lines only equal lines are paired.
_MOST_PAIRS = 160_000
_WORD = re.compile(r"\w+|\s+|[^\w\s]")

Row = tuple[int | None, ...]


def aligned(texts: Sequence[Sequence[str]]) -> list[Row]:
    """Rows of line numbers, 0-based, ``None`` for a gap; each text's lines in order.

    Args:
        texts: Lines of two or three texts; the others are aligned with the first.
    """
    if len(texts) == 2:
        return list(_two(*texts))
    first, second, third = texts
    rows: list[Row] = []
    gaps: tuple[list[int], list[int]] = ([], [])
    partners = [dict(_pairs(first, other)) for other in (second, third)]
    at = [0, 0]

    def close(ends: Sequence[int]) -> None:
        for side in (0, 1):
            gaps[side].extend(range(at[side], ends[side]))
            at[side] = ends[side]

    def flush() -> None:
        between = _two([second[n] for n in gaps[0]], [third[n] for n in gaps[1]])
        for b, c in between:
            rows.append((None, None if b is None else gaps[0][b], None if c is None else gaps[1][c]))
        gaps[0].clear()
        gaps[1].clear()

    for line in range(len(first)):
        theirs = [partner.get(line) for partner in partners]
        close([at[side] if theirs[side] is None else theirs[side] for side in (0, 1)])  # type: ignore[misc]
        flush()
        rows.append((line, *theirs))
        at = [at[side] if theirs[side] is None else theirs[side] + 1 for side in (0, 1)]  # type: ignore[operator]
    close([len(second), len(third)])
    flush()
    return rows


def changed(ours: str, theirs: str) -> list[tuple[int, int]]:
    """Where a line differs from another: (first, end) of each differing stretch of ``ours``."""
    from rapidfuzz.distance import Indel

    words, others = _WORD.findall(ours), _WORD.findall(theirs)
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    edits = Indel.opcodes(words, others)
    return [
        (starts[op.src_start], starts[op.src_end])
        for op in edits
        if op.tag != "equal" and op.src_end > op.src_start
    ]


def _two(left: Sequence[str], right: Sequence[str]) -> list[tuple[int | None, int | None]]:
    rows: list[tuple[int | None, int | None]] = []
    a = b = 0
    for line, other in [*_pairs(left, right), (len(left), len(right))]:
        rows += [(n, None) for n in range(a, line)]
        rows += [(None, n) for n in range(b, other)]
        if line < len(left):
            rows.append((line, other))
        a, b = line + 1, other + 1
    return rows


def _pairs(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that stand for each other, in the order of both texts."""
    if len(left) * len(right) > _MOST_PAIRS:
        return _equal_pairs(left, right)
    ours, theirs = [line.strip() for line in left], [line.strip() for line in right]
    # best[a][b]: likeness gained from left[a:] and right[b:]
    best = [[0.0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    gains = [[_likeness(line, other) for other in theirs] for line in ours]
    for a in range(len(ours) - 1, -1, -1):
        row, below, gain = best[a], best[a + 1], gains[a]
        for b in range(len(theirs) - 1, -1, -1):
            skipped = below[b] if below[b] > row[b + 1] else row[b + 1]
            paired = below[b + 1] + gain[b] if gain[b] else 0.0
            row[b] = paired if paired > skipped else skipped
    pairs = []
    a = b = 0
    while a < len(ours) and b < len(theirs):
        if gains[a][b] and best[a][b] == best[a + 1][b + 1] + gains[a][b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        elif best[a + 1][b] >= best[a][b + 1]:
            a += 1
        else:
            b += 1
    return pairs


def _equal_pairs(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    from rapidfuzz.distance import Indel

    numbers: dict[str, int] = {}
    ours, theirs = (
        [numbers.setdefault(line.strip(), len(numbers)) for line in side] for side in (left, right)
    )
    return [
        (op.src_start + n, op.dest_start + n)
        for op in Indel.opcodes(ours, theirs)
        if op.tag == "equal"
        for n in range(op.src_end - op.src_start)
    ]


def _likeness(line: str, other: str) -> float:
    from rapidfuzz.fuzz import ratio

    if not line or not other:
        return _BLANK if line == other else 0.0
    likeness = ratio(line, other, score_cutoff=_LEAST * 100) / 100
    # equal lines before like ones, however many
    return likeness + (line == other)
