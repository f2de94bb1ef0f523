"""As many intervals as can be, no two of which overlap; ends may touch. Any largest choice is right, in any order."""


def inputs(rng, count, span):
    starts = rng.integers(0, span, count)
    return {"intervals": [(int(s), int(s) + int(rng.integers(1, 9))) for s in starts]}


CASES = [dict(count=6, span=20), dict(count=1, span=5), dict(count=40, span=60)]


def _most(intervals):
    count, end = 0, float("-inf")
    for start, stop in sorted(intervals, key=lambda each: each[1]):
        if start >= end:
            count, end = count + 1, stop
    return count


def check(result, intervals):
    chosen = sorted(tuple(int(end) for end in each) for each in result)
    left = [tuple(each) for each in intervals]
    for each in chosen:
        if each not in left:
            return f"{each} is not among the intervals, or was chosen too often"
        left.remove(each)
    for one, other in zip(chosen, chosen[1:]):
        if one[1] > other[0]:
            return f"{one} and {other} overlap"
    assert len(chosen) == _most(intervals), f"{len(chosen)} chosen, {_most(intervals)} are possible"


def edge_cases(rng):
    yield "none", {"intervals": []}
    yield "ends touch", {"intervals": [(0, 2), (2, 4), (4, 6)]}
    yield "twice the same", {"intervals": [(1, 3), (1, 3), (3, 5)]}
    yield "one over all", {"intervals": [(0, 100), (1, 2), (3, 4), (5, 6)]}
    yield "below zero", {"intervals": [(-9, -5), (-5, -1), (-7, -2)]}
    yield "a short one between", {"intervals": [(0, 10), (9, 12), (11, 20)]}
