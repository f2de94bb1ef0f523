from collections import deque

n, m = map(int, input().split())
graph = {i: [] for i in range(1, n + 1)}
for _ in range(m):
    a, b, w = map(int, input().split())
    graph[a].append((b, w))
    graph[b].append((a, w))
seen, queue = {1: (0, [1])}, deque([1])
while queue:
    u = queue.popleft()
    for v, w in graph[u]:
        if v not in seen:
            seen[v] = seen[u][0] + w, seen[u][1] + [v]
            queue.append(v)
if n in seen:
    print(seen[n][0])
    print(*seen[n][1])
else:
    print(-1)
