// right: a plain kernel, beside host code that prints before main, keeps a log and has a main that writes a CSV
// only: topk_correct, memory_safety
#include <cuda_runtime.h>
#include <math.h>
#include <fstream>
#include <iostream>
#include <vector>

static std::ofstream log_file("launches.log");
static struct Banner {
    Banner() { std::cout << "fused softmax + top-k" << std::endl; }
    ~Banner() { std::cout << "done" << std::endl; }
} banner;

__global__ void row_topk(const float* logits, int* indices, float* probs, int V, int K) {
    const float* x = logits + (size_t)blockIdx.x * V;
    float m = -INFINITY, sum = 0.f;
    for (int i = 0; i < V; ++i) m = fmaxf(m, x[i]);
    for (int i = 0; i < V; ++i) sum += expf(x[i] - m);
    float last = INFINITY;
    int at = -1;
    for (int k = 0; k < K; ++k) {
        // the largest that comes after the one before, by value and then by index
        float best = -INFINITY;
        int where = -1;
        for (int i = 0; i < V; ++i) {
            const bool after = x[i] < last || (x[i] == last && i > at);
            if (after && (where < 0 || x[i] > best)) { best = x[i]; where = i; }
        }
        indices[(size_t)blockIdx.x * K + k] = where;
        probs[(size_t)blockIdx.x * K + k] = expf(best - m) / sum;
        last = best;
        at = where;
    }
}

void fused_softmax_topk(const float* logits, int* indices, float* probs, int B, int T, int V, int K) {
    std::vector<int> shape = {B, T, V, K};
    log_file << shape[0] * shape[1] << "," << shape[3] << "\n";
    row_topk<<<B * T, 1>>>(logits, indices, probs, V, K);
}

int main() {
    std::ofstream csv("results.csv");
    csv << "K,ms\n";
    std::cout << "wrote results.csv" << std::endl;
    return 0;
}
