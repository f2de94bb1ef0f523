"""Sweep over the meetings by their beginnings; what lies behind the latest end so far is new."""

import sys


def taken(meetings):
    hours, blocks, latest = 0.0, 0, float("-inf")
    for begin, end in sorted(meetings):
        blocks += begin > latest
        hours += max(0.0, end - max(begin, latest))
        latest = max(latest, end)
    return hours, blocks


if __name__ == "__main__":
    _, *words = sys.stdin.read().split()
    times = list(map(float, words))
    print(*taken(zip(times[::2], times[1::2], strict=True)))
