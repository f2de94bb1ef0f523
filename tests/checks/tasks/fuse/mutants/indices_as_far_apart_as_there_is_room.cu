// bug: indices of a row begin at row * kMaxK, its probabilities at row * K
// caught by: rows_independent, memory_safety
// only: rows_independent, memory_safety

#include <cuda_runtime.h>
#include <math.h>

constexpr int kBlock = 64;
constexpr int kMaxK = 16;

struct Best {
    float value[kMaxK];
    int place[kMaxK];
    int held;
};

__device__ void offer(Best& best, float value, int place, int k) {
    if (best.held == k && value <= best.value[k - 1]) return;
    int at = best.held < k ? best.held++ : k - 1;
    for (; at > 0 && best.value[at - 1] < value; --at) {
        best.value[at] = best.value[at - 1];
        best.place[at] = best.place[at - 1];
    }
    best.value[at] = value;
    best.place[at] = place;
}

__global__ void topk_softmax(const float* logits, int* indices, float* probabilities, int V, int K) {
    __shared__ Best lists[kBlock];
    __shared__ float top[kBlock], sum[kBlock];
    const float* row = logits + (size_t)blockIdx.x * V;
    const int lane = threadIdx.x;

    Best mine;
    mine.held = 0;
    float m = -INFINITY, l = 0.0f;
    for (int i = lane; i < V; i += kBlock) {
        const float x = row[i];
        const float grown = fmaxf(m, x);
        if (grown > -INFINITY) l = l * expf(m - grown) + expf(x - grown);
        m = grown;
        offer(mine, x, i, K);
    }
    lists[lane] = mine;
    top[lane] = m;
    sum[lane] = l;
    __syncthreads();

    if (lane == 0) {
        float all = -INFINITY, total = 0.0f;
        for (int i = 0; i < kBlock; ++i) all = fmaxf(all, top[i]);
        for (int i = 0; i < kBlock; ++i) total += sum[i] > 0.0f ? sum[i] * expf(top[i] - all) : 0.0f;
        top[0] = all;
        sum[0] = total;
    }

    int count = min(V, kBlock);
    while (count > 1) {
        const int half = (count + 1) / 2;
        if (lane + half < count) {
            const Best& other = lists[lane + half];
            for (int i = 0; i < other.held; ++i) offer(lists[lane], other.value[i], other.place[i], K);
        }
        count = half;
        __syncthreads();
    }
    for (int i = lane; i < K; i += kBlock) {
        indices[(size_t)blockIdx.x * kMaxK + i] = lists[0].place[i];
        probabilities[(size_t)blockIdx.x * K + i] = expf(lists[0].value[i] - top[0]) / sum[0];
    }
}

int fused_softmax_topk(const float* logits, int* indices, float* probabilities, int rows, int V, int K) {
    if (K < 1 || K > kMaxK || K > V) return 1;
    topk_softmax<<<rows, kBlock>>>(logits, indices, probabilities, V, K);
    return cudaGetLastError() != cudaSuccess;
}
