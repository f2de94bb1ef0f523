n, m = map(int, input().split())
roads = [tuple(map(int, input().split())) for _ in range(m)]
best, way = {1: 0}, {1: [1]}
for _ in range(n):
    for a, b, x in [*roads, *((b, a, x) for a, b, x in roads)]:
        if a in best and best[a] + x < best.get(b, float("inf")):
            best[b], way[b] = best[a] + x, way[a] + [b]
print(best[n])
print(*way[n])
