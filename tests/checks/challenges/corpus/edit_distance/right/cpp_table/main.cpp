#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

int main() {
    std::ios::sync_with_stdio(false);
    int n;
    std::cin >> n;
    std::string a, b;
    std::getline(std::cin, a);
    while (n--) {
        std::getline(std::cin, a);
        std::getline(std::cin, b);
        std::vector<std::vector<int>> d(a.size() + 1, std::vector<int>(b.size() + 1));
        for (std::size_t i = 0; i <= a.size(); ++i)
            for (std::size_t j = 0; j <= b.size(); ++j) {
                if (!i || !j) { d[i][j] = int(i + j); continue; }
                d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
            }
        std::cout << d[a.size()][b.size()] << '\n';
    }
}
