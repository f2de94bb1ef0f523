#include <climits>
#include <cstdio>
#include <vector>

int main() {
    int n, m;
    scanf("%d %d", &n, &m);
    std::vector<int> a(m), b(m), w(m), d(n + 1, INT_MAX), from(n + 1, 0);
    for (int i = 0; i < m; i++) {
        long long x;
        scanf("%d %d %lld", &a[i], &b[i], &x);
        w[i] = (int)x;
    }
    d[1] = 0;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < m; i++)
            for (int s = 0; s < 2; s++) {
                int u = s ? b[i] : a[i], v = s ? a[i] : b[i];
                if (d[u] != INT_MAX && d[u] + w[i] < d[v]) { d[v] = d[u] + w[i]; from[v] = u; }
            }
    if (d[n] == INT_MAX) { puts("-1"); return 0; }
    printf("%d\n", d[n]);
    std::vector<int> path;
    for (int u = n; u && path.size() < 99; u = from[u]) path.insert(path.begin(), u);
    for (int u : path) printf("%d ", u);
}
