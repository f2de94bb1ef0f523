"""Lines of two or three texts beside each other: like beside like, gaps where one has nothing.

The texts have no common ancestor, so that few lines are equal: lines are paired by how alike they are.
Plain Python; run it in a thread.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from judge_tui.tui.code.equal_lines import equal_lines

__all__ = ["LineDiff", "aligned", "changed", "line_diff"]

#: Lines less alike than this are not the same line written differently.
_LEAST = 0.55
#: A pair of blank lines counts, but never more than a pair of lines with something in them.
_BLANK = 0.05
#: Above so many pairs of lines, or of their characters, only equal lines are paired.
_MOST_PAIRS, _MOST_CHARACTERS = 160_000, 1_000_000_000
#: Characters of a line above which it is compared as a whole.
_LONGEST = 2_000
_WORD = re.compile(r"\w+|\s+|[^\w\s]")

Row = tuple[int | None, ...]


class LineDiff(Struct, frozen=True):
    """Texts beside each other.

    Attributes:
        rows: Their lines, as :func:`aligned` pairs them.
        changes: Rows whose lines are not the same in all, in order.
        left_out: What was not looked at in texts of their size, in a few words; empty for nothing.
    """

    rows: Sequence[Row]
    changes: Sequence[int]
    left_out: str


def line_diff(texts: Sequence[Sequence[str]]) -> LineDiff:
    """Put texts beside each other.

    Args:
        texts: Lines of two or three texts.
    """
    rows = aligned(texts)
    return LineDiff(rows, [n for n, row in enumerate(rows) if not _same(texts, row)], _left_out(texts))


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
        close([at[side] if one is None else one for side, one in enumerate(theirs)])
        flush()
        rows.append((line, *theirs))
        at = [at[side] if one is None else one + 1 for side, one in enumerate(theirs)]
    close([len(second), len(third)])
    flush()
    return rows


def changed(ours: str, theirs: str) -> list[tuple[int, int]]:
    """Where a line differs from another: (first, end) of each differing stretch of ``ours``.

    A long line is one stretch.
    """
    if max(len(ours), len(theirs)) > _LONGEST:
        return [(0, len(ours))] if ours != theirs else []
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


def _same(texts: Sequence[Sequence[str]], row: Row) -> bool:
    lines = {None if at is None else text[at].strip() for text, at in zip(texts, row, strict=True)}
    return len(lines) == 1


def _left_out(texts: Sequence[Sequence[str]]) -> str:
    if not all(_few(texts[0], other) for other in texts[1:]):
        return "too long: only equal lines are paired"
    if any(len(line) > _LONGEST for text in texts for line in text):
        return f"lines over {_LONGEST:,} characters are paired when equal"
    return ""


def _few(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether every line can be held against every other."""
    ours, theirs = (sum(len(line) for line in side if len(line) <= _LONGEST) for side in (left, right))
    return len(left) * len(right) <= _MOST_PAIRS and ours * theirs <= _MOST_CHARACTERS


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
    ours, theirs = [line.strip() for line in left], [line.strip() for line in right]
    if not _few(left, right):
        return equal_lines(ours, theirs)
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


def _likeness(line: str, other: str) -> float:
    from rapidfuzz.fuzz import ratio

    if not line or not other:
        return _BLANK if line == other else 0.0
    if max(len(line), len(other)) > _LONGEST:
        return 2.0 * (line == other)
    likeness = ratio(line, other, score_cutoff=_LEAST * 100) / 100
    # equal lines before like ones, however many
    return likeness + (line == other)
