import sys

data = list(map(int, sys.stdin.read().split()))
n, m = data[:2]
w = {}
for k in range(m):
    a, b, x = data[2 + 3 * k : 5 + 3 * k]
    w[a, b] = w[b, a] = x
best, way = {1: 0}, {1: [1]}
for _ in range(n):
    for (a, b), x in w.items():
        if a in best and best[a] + x < best.get(b, float("inf")):
            best[b], way[b] = best[a] + x, way[a] + [b]
print(best.get(n, -1))
if n in best:
    print(*way[n])
