#include <cmath>
#include <iostream>

int main() {
    int n;
    std::cin >> n;
    double sum = 0, squares = 0, value;
    for (int i = 0; i < n; i++) {
        std::cin >> value;
        sum += value, squares += value * value;
    }
    double mean = sum / n;
    std::cout.precision(12);
    std::cout << mean << " " << std::sqrt((squares - n * mean * mean) / (n - 1)) << "\n";
}
