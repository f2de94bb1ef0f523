"""Which lines of two texts are the same: the longest common sequence, as far as it is found in a blink.

Plain Python; no call holds the interpreter's lock for long, however long the texts are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

__all__ = ["equal_lines"]

#: Above so many pairs of lines only those that stand once in each text are looked for: the exact way takes
#: 15 ms for so many, a hold of the lock, and grows with them.
_MOST_PAIRS = 16_000_000

Pair = tuple[int, int]


def equal_lines(left: Sequence[str], right: Sequence[str]) -> list[Pair]:
    """Pairs of equal lines, 0-based, in the order of both texts.

    Args:
        left: Lines.
        right: Other lines.
    """
    numbers: dict[str, int] = {}
    ours, theirs = ([numbers.setdefault(line, len(numbers)) for line in side] for side in (left, right))
    least, head, tail = min(len(ours), len(theirs)), 0, 0
    while head < least and ours[head] == theirs[head]:
        head += 1
    while tail < least - head and ours[-1 - tail] == theirs[-1 - tail]:
        tail += 1
    ends = len(ours) - tail, len(theirs) - tail
    between = _between(ours[head : ends[0]], theirs[head : ends[1]])
    return [
        *((n, n) for n in range(head)),
        *((head + a, head + b) for a, b in between),
        *((ends[0] + n, ends[1] + n) for n in range(tail)),
    ]


def _between(ours: Sequence[int], theirs: Sequence[int]) -> list[Pair]:
    """Pairs of equal numbers; those that each side has once hold long sides together."""
    if len(ours) * len(theirs) <= _MOST_PAIRS:
        return _exactly(ours, theirs)
    pairs: list[Pair] = []
    a = b = 0
    for anchor in [*_anchors(ours, theirs), (len(ours), len(theirs))]:
        stretch = ours[a : anchor[0]], theirs[b : anchor[1]]
        if len(stretch[0]) * len(stretch[1]) <= _MOST_PAIRS:
            pairs += [(a + n, b + m) for n, m in _exactly(*stretch)]
        if anchor[0] < len(ours):
            pairs.append(anchor)
        a, b = anchor[0] + 1, anchor[1] + 1
    return pairs


def _exactly(ours: Sequence[int], theirs: Sequence[int]) -> list[Pair]:
    if not ours or not theirs:
        return []
    from rapidfuzz.distance import Indel

    return [
        (op.src_start + n, op.dest_start + n)
        for op in Indel.opcodes(ours, theirs)
        if op.tag == "equal"
        for n in range(op.src_end - op.src_start)
    ]


def _anchors(ours: Sequence[int], theirs: Sequence[int]) -> list[Pair]:
    """Numbers that stand once in each, as many of them as are in the same order in both."""
    once = {number for number, count in Counter(ours).items() if count == 1}
    once &= {number for number, count in Counter(theirs).items() if count == 1}
    places = {number: b for b, number in enumerate(theirs) if number in once}
    # the longest increasing sequence of places: where each length ends lowest, and what was before each
    lowest: list[int] = []
    ends: list[int] = []
    chain: list[tuple[Pair, int]] = []
    for a, number in enumerate(ours):
        if number in once:
            length = bisect_left(lowest, places[number])
            lowest[length : length + 1] = [places[number]]
            ends[length : length + 1] = [len(chain)]
            chain.append(((a, places[number]), ends[length - 1] if length else -1))
    anchors: list[Pair] = []
    step = ends[-1] if ends else -1
    while step >= 0:
        pair, step = chain[step]
        anchors.append(pair)
    return anchors[::-1]
