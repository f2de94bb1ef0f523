#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char a[5000], b[5000];

static void line(char *s) {
    if (!fgets(s, 5000, stdin)) s[0] = 0;
    s[strcspn(s, "\r\n")] = 0;
}

int main(void) {
    line(a);
    for (int t = atoi(a); t > 0; t--) {
        line(a);
        line(b);
        int m = (int)strlen(b), *row = malloc(sizeof *row * (m + 1));
        for (int j = 0; j <= m; j++) row[j] = j;
        for (int i = 1; a[i - 1]; i++) {
            int diag = row[0];
            row[0] = i;
            for (int j = 1; j <= m; j++) {
                int best = diag + (a[i - 1] != b[j - 1]);
                if (row[j] + 1 < best) best = row[j] + 1;
                if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
                diag = row[j];
                row[j] = best;
            }
        }
        printf("%d\n", row[m]);
        free(row);
    }
    return 0;
}
