// Tests of fused_softmax_topk.cuh.
//
//   nvcc -O3 -arch=sm_80 -std=c++17 test_fused.cu -o test_fused && ./test_fused
//
// Every test compares with a CPU softmax in double precision and a full sort.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "fused_softmax_topk.cuh"

#define CUDA_CHECK(call)                                                              \
    do {                                                                              \
        cudaError_t status_ = (call);                                                 \
        if (status_ != cudaSuccess) {                                                 \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
            std::exit(1);                                                             \
        }                                                                             \
    } while (0)

struct Reference {
    std::vector<int> indices;
    std::vector<double> probs;
};

static Reference cpu_softmax_topk(const float* row, int V, int K) {
    Reference ref;
    const double m = *std::max_element(row, row + V);
    double d = 0.0;
    for (int j = 0; j < V; ++j) d += std::exp(row[j] - m);
    ref.indices.resize(V);
    std::iota(ref.indices.begin(), ref.indices.end(), 0);
    std::partial_sort(ref.indices.begin(), ref.indices.begin() + K, ref.indices.end(),
                      [row](int a, int b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
    ref.indices.resize(K);
    for (int index : ref.indices) ref.probs.push_back(std::exp(row[index] - m) / d);
    return ref;
}

template <int K, int WARPS_PER_BLOCK>
static bool run_case(const char* name, const std::vector<float>& logits, int rows, int V) {
    float *d_logits, *d_probs;
    int* d_indices;
    CUDA_CHECK(cudaMalloc(&d_logits, logits.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_probs, rows * K * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_indices, rows * K * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(d_logits, logits.data(), logits.size() * sizeof(float), cudaMemcpyHostToDevice));

    CUDA_CHECK((fused::launch_fused_softmax_topk<K, WARPS_PER_BLOCK>(d_logits, d_indices, d_probs, rows, V)));
    CUDA_CHECK(cudaDeviceSynchronize());

    std::vector<int> indices(rows * K);
    std::vector<float> probs(rows * K);
    CUDA_CHECK(cudaMemcpy(indices.data(), d_indices, indices.size() * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(probs.data(), d_probs, probs.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(d_logits));
    CUDA_CHECK(cudaFree(d_probs));
    CUDA_CHECK(cudaFree(d_indices));

    int wrong = 0;
    double worst = 0.0;
    for (int r = 0; r < rows; ++r) {
        const Reference ref = cpu_softmax_topk(logits.data() + static_cast<size_t>(r) * V, V, K);
        for (int k = 0; k < K; ++k) {
            wrong += indices[r * K + k] != ref.indices[k];
            worst = std::max(worst, std::fabs(probs[r * K + k] - ref.probs[k]));
        }
    }
    const bool ok = wrong == 0 && worst < 1e-5;
    std::printf("%-28s rows=%-3d V=%-6d K=%-2d  wrong=%d  max|err|=%.2e  [%s]\n", name, rows, V, K, wrong, worst,
                ok ? "PASS" : "FAIL");
    return ok;
}

static std::vector<float> random_logits(int rows, int V, unsigned seed, float scale = 1.0f) {
    std::mt19937 gen(seed);
    std::normal_distribution<float> normal(0.0f, scale);
    std::vector<float> logits(static_cast<size_t>(rows) * V);
    for (float& x : logits) x = normal(gen);
    return logits;
}

int main() {
    bool ok = true;

    // One decoding step of one sequence, default launch configuration.
    ok &= run_case<5, fused::DEFAULT_WARPS_PER_BLOCK>("decode step", random_logits(1, 1000, 1), 1, 1000);
    ok &= run_case<10, fused::DEFAULT_WARPS_PER_BLOCK>("decode step, large V", random_logits(1, 50257, 2), 1, 50257);
    ok &= run_case<32, fused::DEFAULT_WARPS_PER_BLOCK>("decode step, K=32", random_logits(1, 32000, 3), 1, 32000);

    // Several rows, one warp per block.
    ok &= run_case<10, 1>("batch", random_logits(16, 4096, 4), 16, 4096);
    ok &= run_case<20, 1>("batch, V not a multiple", random_logits(8, 1003, 5), 8, 1003);

    // Stability: large logits, and one dominant token.
    ok &= run_case<10, 1>("large logits", random_logits(4, 2048, 6, 50.0f), 4, 2048);
    std::vector<float> spike(2048, 0.0f);
    spike[1234] = 100.0f;
    ok &= run_case<5, 1>("dominant token", spike, 1, 2048);

    std::printf("%s\n", ok ? "All tests passed" : "Some tests FAILED");
    return ok ? 0 : 1;
}
