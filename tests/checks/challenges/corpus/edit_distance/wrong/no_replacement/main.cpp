#include <algorithm>
#include <iostream>
#include <string>
#include <vector>
using namespace std;

int main() {
    int n;
    cin >> n >> ws;
    string a, b;
    while (n--) {
        getline(cin, a);
        getline(cin, b);
        vector<vector<int>> d(a.size() + 1, vector<int>(b.size() + 1));
        for (size_t i = 0; i <= a.size(); i++)
            for (size_t j = 0; j <= b.size(); j++)
                if (!i || !j) d[i][j] = i + j;
                else if (a[i - 1] == b[j - 1]) d[i][j] = d[i - 1][j - 1];
                else d[i][j] = 1 + min(d[i - 1][j], d[i][j - 1]);
        cout << d[a.size()][b.size()] << "\n";
    }
}
