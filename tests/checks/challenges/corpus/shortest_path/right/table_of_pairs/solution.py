import itertools
import sys

n, m, *rest = [int(word) for word in sys.stdin.read().split()]
best = {(a, b): None for a in range(1, n + 1) for b in range(1, n + 1)}
step = {}
for node in range(1, n + 1):
    best[node, node] = 0
for a, b, w in zip(*[iter(rest)] * 3):
    for pair in ((a, b), (b, a)):
        if best[pair] is None or w < best[pair]:
            best[pair] = w
            step[pair] = pair[1]

for k, i, j in itertools.product(range(1, n + 1), repeat=3):
    first, second = best[i, k], best[k, j]
    if first is None or second is None:
        continue
    if best[i, j] is None or first + second < best[i, j]:
        best[i, j] = first + second
        step[i, j] = step[i, k]

if best[1, n] is None:
    sys.exit(print(-1))
path = [1]
while path[-1] != n:
    path.append(step[path[-1], n])
print(best[1, n])
print(*path)
