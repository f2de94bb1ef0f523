import sys

sys.setrecursionlimit(10**6)


def d(a, b):
    if not a or not b:
        return len(a + b)
    return min(d(a[1:], b) + 1, d(a, b[1:]) + 1, d(a[1:], b[1:]) + (a[0] != b[0]))


for _ in range(int(input())):
    print(d(input(), input()), flush=True)
