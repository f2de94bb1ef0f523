// BUG: lists of K for each of 64 threads lie in dynamic shared memory, and no more than 48 KiB is ever asked for; from K = 97 on no launch is made, and the function says true.
// caught by: k_range
#include <cuda_runtime.h>
#include <cmath>

constexpr int kThreads = 64;

__device__ bool before(float a, int i, float b, int j) { return j < 0 || a > b || (a == b && i < j); }

__global__ void lists(const float* logits, int* indices, float* weights, int V, int K) {
    extern __shared__ float room[];
    __shared__ float peaks[kThreads], sums[kThreads];
    float* value = room + threadIdx.x * K;
    int* place = (int*)(room + kThreads * K) + threadIdx.x * K;
    const float* row = logits + (size_t)blockIdx.x * V;
    for (int k = 0; k < K; ++k) value[k] = -INFINITY, place[k] = -1;
    float peak = -INFINITY;
    for (int i = threadIdx.x; i < V; i += kThreads) {
        peak = fmaxf(peak, row[i]);
        if (!before(row[i], i, value[K - 1], place[K - 1])) continue;
        int k = K - 1;
        for (; k > 0 && before(row[i], i, value[k - 1], place[k - 1]); --k) value[k] = value[k - 1], place[k] = place[k - 1];
        value[k] = row[i], place[k] = i;
    }
    peaks[threadIdx.x] = peak;
    __syncthreads();
    for (int t = 0; t < kThreads; ++t) peak = fmaxf(peak, peaks[t]);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < V; i += kThreads) sum += row[i] > -INFINITY ? expf(row[i] - peak) : 0.0f;
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    for (int t = 1; t < kThreads; ++t) sum += sums[t];
    // heads of all lists, the best one first; what is taken moves its list on
    for (int k = 0; k < K; ++k) {
        int best = -1;
        for (int t = 0; t < kThreads; ++t) {
            const int at = t * K, had = best * K;
            const int* ids = (int*)(room + kThreads * K);
            if (ids[at] >= 0 && (best < 0 || before(room[at], ids[at], room[had], ids[had]))) best = t;
        }
        int* ids = (int*)(room + kThreads * K);
        const size_t out = (size_t)blockIdx.x * K + k;
        indices[out] = best < 0 ? -1 : ids[best * K];
        weights[out] = best < 0 || room[best * K] == -INFINITY ? 0.0f : expf(room[best * K] - peak) / sum;
        if (best < 0) continue;
        for (int j = 0; j + 1 < K; ++j) room[best * K + j] = room[best * K + j + 1], ids[best * K + j] = ids[best * K + j + 1];
        ids[best * K + K - 1] = -1;
    }
}

bool fused_softmax_topk(const float* logits, int* indices, float* weights, int rows, int V, int K) {
    if (K < 1 || V < 1) return false;
    lists<<<rows, kThreads, kThreads * K * (sizeof(float) + sizeof(int))>>>(logits, indices, weights, V, K);
    return true;
}
