// bug: copies run one stage ahead, and the wait leaves both stages open: the tile that is read may still be on its way
// bug: on a card it is there in time more often than not
// caught by: topk_correct, memory_safety

#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <math_constants.h>

constexpr int kThreads = 64, kTile = 256;

__device__ void fetch(float* buffer, const float* row, int first, int n) {
    for (int i = threadIdx.x; i < kTile; i += kThreads)
        if (first + i < n) __pipeline_memcpy_async(buffer + i, row + first + i, sizeof(float));
    __pipeline_commit();
}

__global__ void softmax_topk(const float* __restrict__ logits, int* __restrict__ indices, float* __restrict__ probs,
                             int V, int K) {
    __shared__ float tiles[2][kTile], scratch[kThreads];
    __shared__ int where[kThreads];
    const float* row = logits + (size_t)blockIdx.x * V;
    const int t = threadIdx.x;

    float top = -CUDART_INF_F, mass = 0.0f;
    fetch(tiles[0], row, 0, V);
    for (int first = 0, stage = 0; first < V; first += kTile, stage ^= 1) {
        fetch(tiles[stage ^ 1], row, first + kTile, V);
        __pipeline_wait_prior(2);
        __syncthreads();
        for (int i = t; i < kTile && first + i < V; i += kThreads) {
            const float x = tiles[stage][i], higher = fmaxf(top, x);
            if (higher == -CUDART_INF_F) continue;
            mass = mass * expf(top - higher) + expf(x - higher);
            top = higher;
        }
        __syncthreads();
    }
    __pipeline_wait_prior(0);

    scratch[t] = top;
    __syncthreads();
    float m = scratch[0];
    for (int i = 1; i < kThreads; i++) m = fmaxf(m, scratch[i]);
    __syncthreads();
    scratch[t] = top == -CUDART_INF_F ? 0.0f : mass * expf(top - m);
    __syncthreads();
    float z = 0.0f;
    for (int i = 0; i < kThreads; i++) z += scratch[i];

    float last = CUDART_INF_F;
    int last_at = -1;
    for (int r = 0; r < K; r++) {
        float best = -CUDART_INF_F;
        int best_at = V;
        for (int i = t; i < V; i += kThreads) {
            const bool behind = row[i] < last || (row[i] == last && i > last_at);
            if (behind && (row[i] > best || best_at == V)) best = row[i], best_at = i;
        }
        __syncthreads();
        scratch[t] = best;
        where[t] = best_at;
        __syncthreads();
        int won = 0;
        for (int i = 1; i < kThreads; i++)
            if (scratch[i] > scratch[won] || (scratch[i] == scratch[won] && where[i] < where[won])) won = i;
        last = scratch[won];
        last_at = where[won];
        if (t == 0) {
            indices[(size_t)blockIdx.x * K + r] = last_at;
            probs[(size_t)blockIdx.x * K + r] = expf(last - m) / z;
        }
    }
}

extern "C" int launch_softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    if (K < 1 || K > V) return 1;
    softmax_topk<<<rows, kThreads>>>(logits, indices, probs, V, K);
    return (int)cudaGetLastError();
}
