// bug: the kernel is empty; the logits are copied to the host, and the answer from there
// caught by: topk_correct (warn)
// passes: memory_safety
#include <cuda_runtime.h>
#include <math.h>
#include <vector>

__global__ void row_topk(const float*, int*, float*, int, int) {}

static void row(const float* x, int* indices, float* probs, int V, int K) {
    float m = -INFINITY, sum = 0.f, last = INFINITY;
    int at = -1;
    for (int i = 0; i < V; ++i) m = fmaxf(m, x[i]);
    for (int i = 0; i < V; ++i) sum += expf(x[i] - m);
    for (int k = 0; k < K; ++k) {
        float best = -INFINITY;
        int where = -1;
        for (int i = 0; i < V; ++i) {
            const bool after = x[i] < last || (x[i] == last && i > at);
            if (after && (where < 0 || x[i] > best)) { best = x[i]; where = i; }
        }
        indices[k] = where;
        probs[k] = expf(best - m) / sum;
        last = best;
        at = where;
    }
}

void fused_softmax_topk(const float* logits, int* indices, float* probs, int B, int T, int V, int K) {
    const size_t rows = (size_t)B * T;
    row_topk<<<B * T, 1>>>(logits, indices, probs, V, K);
    std::vector<float> x(rows * V), p(rows * K);
    std::vector<int> at(rows * K);
    cudaMemcpy(x.data(), logits, x.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t r = 0; r < rows; ++r) row(&x[r * V], &at[r * K], &p[r * K], V, K);
    cudaMemcpy(indices, at.data(), at.size() * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(probs, p.data(), p.size() * sizeof(float), cudaMemcpyHostToDevice);
}
