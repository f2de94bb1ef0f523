import heapq
import sys
from collections import defaultdict


def main():
    data = iter(sys.stdin.read().split())
    n, m = int(next(data)), int(next(data))
    graph = defaultdict(list)
    for _ in range(m):
        a, b, w = (int(next(data)) for _ in range(3))
        graph[a].append((b, w))
        graph[b].append((a, w))
    dist, parent, heap = {1: 0}, {1: None}, [(0, 1)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, w in graph[u]:
            if d + w < dist.get(v, float("inf")):
                dist[v], parent[v] = d + w, u
                heapq.heappush(heap, (d + w, v))
    if n not in dist:
        print(-1)
        return
    path, u = [], n
    while u is not None:
        path.append(u)
        u = parent[u]
    print(dist[n])
    print(*reversed(path))


main()
