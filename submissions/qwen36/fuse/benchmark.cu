/*
 * benchmark.cu -- correctness and timing of both versions
 *
 *   nvcc -O3 -arch=sm_80 -std=c++17 benchmark.cu fused_softmax_topk.cu \
 *        fused_softmax_topk_v2.cu -o benchmark
 *   ./benchmark            correctness, then timing
 *   ./benchmark --check    correctness only
 */

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include <cuda_runtime.h>

cudaError_t fused_softmax_topk(const float*, int*, float*, int B, int T, int V, int K, cudaStream_t);
cudaError_t fused_softmax_topk_v2(const float*, int*, float*, int B, int T, int V, int K, cudaStream_t);

using Launcher = cudaError_t (*)(const float*, int*, float*, int, int, int, int, cudaStream_t);

struct Config {
    const char* name;
    int B, T, V, K;
};

#define CHECK(call)                                                                        \
    do {                                                                                   \
        const cudaError_t err_ = (call);                                                   \
        if (err_ != cudaSuccess) {                                                         \
            std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err_)); \
            std::exit(EXIT_FAILURE);                                                       \
        }                                                                                  \
    } while (0)

struct Buffers {
    float* logits = nullptr;
    float* probs = nullptr;
    int* indices = nullptr;

    Buffers(const std::vector<float>& host, size_t out)
    {
        CHECK(cudaMalloc(&logits, host.size() * sizeof(float)));
        CHECK(cudaMalloc(&probs, out * sizeof(float)));
        CHECK(cudaMalloc(&indices, out * sizeof(int)));
        CHECK(cudaMemcpy(logits, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    }
    ~Buffers()
    {
        cudaFree(logits);
        cudaFree(probs);
        cudaFree(indices);
    }
};

static std::vector<float> make_logits(size_t n, unsigned seed)
{
    std::mt19937 gen(seed);
    std::normal_distribution<float> normal(0.0f, 2.0f);
    std::vector<float> out(n);
    for (float& v : out) v = normal(gen);
    return out;
}

/* Row by row against a double-precision softmax and a partial sort. */
static bool check(const char* version, Launcher launch, const Config& c)
{
    const int rows = c.B * c.T;
    const std::vector<float> host = make_logits(static_cast<size_t>(rows) * c.V, 42);
    Buffers dev(host, static_cast<size_t>(rows) * c.K);
    CHECK(launch(dev.logits, dev.indices, dev.probs, c.B, c.T, c.V, c.K, 0));
    CHECK(cudaDeviceSynchronize());

    std::vector<int> indices(static_cast<size_t>(rows) * c.K);
    std::vector<float> probs(indices.size());
    CHECK(cudaMemcpy(indices.data(), dev.indices, indices.size() * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(probs.data(), dev.probs, probs.size() * sizeof(float), cudaMemcpyDeviceToHost));

    double worst = 0.0;
    int wrong = 0;
    std::vector<int> order(c.V);
    for (int r = 0; r < rows; ++r) {
        const float* x = host.data() + static_cast<size_t>(r) * c.V;
        const double top = *std::max_element(x, x + c.V);
        double sum = 0.0;
        for (int i = 0; i < c.V; ++i) sum += std::exp(x[i] - top);
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + c.K, order.end(),
                          [x](int a, int b) { return x[a] > x[b] || (x[a] == x[b] && a < b); });
        for (int k = 0; k < c.K; ++k) {
            const size_t at = static_cast<size_t>(r) * c.K + k;
            wrong += x[indices[at]] != x[order[k]];
            const double p = std::exp(x[order[k]] - top) / sum;
            worst = std::max(worst, std::fabs(probs[at] - p) / p);
        }
    }
    const bool ok = wrong == 0 && worst < 1e-4;
    std::printf("  %-4s %-22s B=%d T=%-2d V=%-6d K=%-3d  wrong %d  rel err %.1e  %s\n", version, c.name, c.B,
                c.T, c.V, c.K, wrong, worst, ok ? "ok" : "FAILED");
    return ok;
}

static void time_it(const char* version, Launcher launch, const Config& c)
{
    constexpr int WARMUP = 5, REPEATS = 50;
    const int rows = c.B * c.T;
    const std::vector<float> host = make_logits(static_cast<size_t>(rows) * c.V, 7);
    Buffers dev(host, static_cast<size_t>(rows) * c.K);

    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int i = 0; i < WARMUP; ++i)
        CHECK(launch(dev.logits, dev.indices, dev.probs, c.B, c.T, c.V, c.K, 0));
    CHECK(cudaEventRecord(start));
    for (int i = 0; i < REPEATS; ++i)
        CHECK(launch(dev.logits, dev.indices, dev.probs, c.B, c.T, c.V, c.K, 0));
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms = 0.0f;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    ms /= REPEATS;
    const double bytes = static_cast<double>(rows) * c.V * sizeof(float);
    std::printf("  %-4s %-22s %8.3f ms  %7.1f GB/s of logits\n", version, c.name, ms, bytes / ms * 1e-6);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
}

int main(int argc, char** argv)
{
    const Config configs[] = {
        {"small", 2, 4, 1024, 16},
        {"ragged", 1, 3, 1000, 32},
        {"LLaMA-sized, K=64", 1, 8, 32000, 64},
        {"LLaMA-sized, K=256", 1, 1, 50257, 256},
        {"large", 1, 4, 131072, 128},
    };
    bool ok = true;
    std::printf("correctness\n");
    for (const Config& c : configs) {
        ok &= check("v1", fused_softmax_topk, c);
        ok &= check("v2", fused_softmax_topk_v2, c);
    }
    if (argc > 1 && std::strcmp(argv[1], "--check") == 0) return ok ? EXIT_SUCCESS : EXIT_FAILURE;

    std::printf("timing\n");
    for (const Config& c : configs) {
        time_it("v1", fused_softmax_topk, c);
        time_it("v2", fused_softmax_topk_v2, c);
    }
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
