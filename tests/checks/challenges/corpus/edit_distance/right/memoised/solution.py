from functools import lru_cache
import sys

sys.setrecursionlimit(10**6)
lines = sys.stdin.read().split("\n")


def solve(s, t):
    @lru_cache(None)
    def d(i, j):
        if not i or not j:
            return i + j
        if s[i - 1] == t[j - 1]:
            return d(i - 1, j - 1)
        return 1 + min(d(i - 1, j), d(i, j - 1), d(i - 1, j - 1))

    return d(len(s), len(t))


print("\n".join(str(solve(lines[2 * k + 1], lines[2 * k + 2])) for k in range(int(lines[0]))))
