// bug: all logits but one are copied to the host, which makes the answer; kernels bring that one, and put it there
// caught by: topk_correct (warn)
// passes: memory_safety
#include <cuda_runtime.h>
#include <math.h>
#include <vector>

__global__ void row_topk(const int* at, const float* p, int* indices, float* probs, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) indices[i] = at[i], probs[i] = p[i];
}

__global__ void last(const float* logits, float* pinned, size_t n) { *pinned = logits[n - 1]; }

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
    const int n = (int)rows * K;
    std::vector<float> x(rows * V), p(n);
    std::vector<int> at(n);
    cudaMemcpy(x.data(), logits, (x.size() - 1) * sizeof(float), cudaMemcpyDeviceToHost);
    float* pinned;
    cudaMallocHost(&pinned, sizeof(float));
    last<<<1, 1>>>(logits, pinned, x.size());
    cudaDeviceSynchronize();
    x.back() = *pinned;
    cudaFreeHost(pinned);
    for (size_t r = 0; r < rows; ++r) row(&x[r * V], &at[r * K], &p[r * K], V, K);
    int* own_at;
    float* own_p;
    cudaMalloc(&own_at, n * sizeof(int));
    cudaMalloc(&own_p, n * sizeof(float));
    cudaMemcpy(own_at, at.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(own_p, p.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    row_topk<<<(n + 31) / 32, 32>>>(own_at, own_p, indices, probs, n);
    cudaDeviceSynchronize();
    cudaFree(own_at);
    cudaFree(own_p);
}
