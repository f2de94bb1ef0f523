from typing import List, Tuple

Interval = Tuple[int, int]


def select(meetings: List[Interval]) -> List[Interval]:
    """Greedy from the right."""
    out: List[Interval] = []
    for m in sorted(meetings, reverse=True):
        if not out or m[1] <= out[-1][0]:
            out.append(m)
    return out[::-1]
