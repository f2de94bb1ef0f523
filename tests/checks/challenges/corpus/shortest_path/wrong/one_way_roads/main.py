import heapq

n, m = map(int, input().split())
graph = {i: [] for i in range(1, n + 1)}
for _ in range(m):
    a, b, w = map(int, input().split())
    graph[b].append((a, w))
heap, done = [(0, 1, [1])], set()
while heap:
    d, u, path = heapq.heappop(heap)
    if u == n:
        print(d)
        print(*path)
        break
    if u in done:
        continue
    done.add(u)
    for v, w in graph[u]:
        heapq.heappush(heap, (d + w, v, path + [v]))
else:
    print(-1)
