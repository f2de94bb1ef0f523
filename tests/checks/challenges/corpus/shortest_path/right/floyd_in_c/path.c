#include <stdio.h>
#define N 64
#define INF 9000000000000000000LL

static long long d[N][N];
static int next_hop[N][N];

int main(void) {
    int n, m;
    if (scanf("%d%d", &n, &m) != 2) return 1;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++) {
            d[i][j] = i == j ? 0 : INF;
            next_hop[i][j] = j;
        }
    while (m--) {
        int a, b;
        long long w;
        scanf("%d%d%lld", &a, &b, &w);
        if (w < d[a][b]) d[a][b] = d[b][a] = w;
    }
    for (int k = 1; k <= n; k++)
        for (int i = 1; i <= n; i++)
            for (int j = 1; j <= n; j++)
                if (d[i][k] < INF && d[k][j] < INF && d[i][k] + d[k][j] < d[i][j]) {
                    d[i][j] = d[i][k] + d[k][j];
                    next_hop[i][j] = next_hop[i][k];
                }
    if (d[1][n] >= INF) {
        printf("-1");
        return 0;
    }
    printf("%lld\n1", d[1][n]);
    for (int u = 1; u != n;) printf(" %d", u = next_hop[u][n]);
    return 0;
}
