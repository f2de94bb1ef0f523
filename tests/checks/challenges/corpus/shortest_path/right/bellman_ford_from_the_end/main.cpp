#include <bits/stdc++.h>
using namespace std;
typedef long long ll;

struct Edge { int a, b; ll w; };

int main() {
    int n, m;
    scanf("%d %d", &n, &m);
    vector<Edge> es;
    for (int i = 0; i < m; i++) {
        int a, b; ll w;
        scanf("%d %d %lld", &a, &b, &w);
        es.push_back({a, b, w});
        es.push_back({b, a, w});
    }
    vector<ll> d(n + 1, LLONG_MAX);
    vector<int> next_(n + 1, 0);
    d[n] = 0;
    for (bool again = true; again;) {
        again = false;
        for (auto &e : es)
            if (d[e.b] != LLONG_MAX && d[e.b] + e.w < d[e.a]) {
                d[e.a] = d[e.b] + e.w;
                next_[e.a] = e.b;
                again = true;
            }
    }
    if (d[1] == LLONG_MAX) { puts("-1"); return 0; }
    printf("%lld\n", d[1]);
    for (int u = 1; u; u = next_[u]) printf("%d%c", u, u == n ? '\n' : ' ');
}
