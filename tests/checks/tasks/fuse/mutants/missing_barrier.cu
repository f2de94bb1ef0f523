// bug: thread 0 reads the lists of the other warps' threads without a barrier after they were written
// caught by: memory_safety, topk_correct

#include <cuda_runtime.h>

enum { THREADS = 96, LIMIT = 12 };

__global__ void topk_block(const float* in, int* idx, float* prob, int n, int k) {
    __shared__ float vals[THREADS][LIMIT];
    __shared__ int names[THREADS][LIMIT];
    __shared__ float tops[THREADS], sums[THREADS];
    const int t = threadIdx.x;
    const float* x = in + (size_t)blockIdx.x * n;
    for (int i = 0; i < k; ++i) names[t][i] = -1;
    float top = -1e38f, sum = 0.f;
    for (int i = t; i < n; i += THREADS) {
        const float y = x[i];
        if (y > top) {
            sum *= expf(top - y);
            top = y;
        }
        sum += expf(y - top);
        int slot = k - 1;
        if (names[t][slot] >= 0 && vals[t][slot] >= y) continue;
        for (; slot > 0 && (names[t][slot - 1] < 0 || vals[t][slot - 1] < y); --slot) {
            vals[t][slot] = vals[t][slot - 1];
            names[t][slot] = names[t][slot - 1];
        }
        vals[t][slot] = y;
        names[t][slot] = i;
    }
    tops[t] = top;
    sums[t] = sum;
    // lanes of one warp run together, so the block is left to them here
    if (t == 0) {
        for (int u = 1; u < THREADS; ++u) top = fmaxf(top, tops[u]);
        sum = 0.f;
        for (int u = 0; u < THREADS; ++u) sum += sums[u] * expf(tops[u] - top);
        int head[THREADS];
        for (int u = 0; u < THREADS; ++u) head[u] = 0;
        for (int i = 0; i < k; ++i) {
            int from = 0;
            for (int u = 1; u < THREADS; ++u) {
                if (head[u] == k || names[u][head[u]] < 0) continue;
                if (head[from] == k || names[from][head[from]] < 0 || vals[u][head[u]] > vals[from][head[from]]) from = u;
            }
            idx[(size_t)blockIdx.x * k + i] = names[from][head[from]];
            prob[(size_t)blockIdx.x * k + i] = expf(vals[from][head[from]++] - top) / sum;
        }
    }
}

extern "C" int topk_softmax(const float* in, int* idx, float* prob, int rows, int n, int k) {
    if (k < 1 || k > LIMIT || k > n) return 1;
    topk_block<<<rows, THREADS>>>(in, idx, prob, n, k);
    return cudaGetLastError() != cudaSuccess;
}
