// bug: the kernel calls a function of the host, std::partial_sort
// caught by: compiles

#include <algorithm>
#include <cuda_runtime.h>

struct Scored {
    float x;
    int token;
};

static bool comes_first(const Scored& a, const Scored& b) { return a.x > b.x || (a.x == b.x && a.token < b.token); }

constexpr int kLanes = 64;
constexpr int kKeep = 8;

__global__ void sorted_candidates(const float* logits, int* indices, float* probs, int V, int K) {
    __shared__ Scored pool[kLanes * kKeep];
    __shared__ float m[kLanes], d[kLanes];
    const int t = threadIdx.x;
    const float* x = logits + (size_t)blockIdx.x * V;
    Scored* mine = pool + t * kKeep;
    for (int k = 0; k < kKeep; ++k) mine[k] = Scored{-INFINITY, 0x7fffffff};
    m[t] = -1e38f;
    d[t] = 0.f;
    for (int v = t; v < V; v += kLanes) {
        const float up = fmaxf(m[t], x[v]);
        d[t] = d[t] * expf(m[t] - up) + expf(x[v] - up);
        m[t] = up;
        const Scored s{x[v], v};
        if (!comes_first(s, mine[kKeep - 1])) continue;
        mine[kKeep - 1] = s;
        std::partial_sort(mine, mine + kKeep, mine + kKeep, comes_first);
    }
    __syncthreads();
    if (t == 0) {
        std::partial_sort(pool, pool + K, pool + kLanes * kKeep, comes_first);
        float top = m[0], mass = 0.f;
        for (int u = 0; u < kLanes; ++u) top = fmaxf(top, m[u]);
        for (int u = 0; u < kLanes; ++u) mass += d[u] * expf(m[u] - top);
        for (int k = 0; k < K; ++k) {
            indices[(size_t)blockIdx.x * K + k] = pool[k].token;
            probs[(size_t)blockIdx.x * K + k] = expf(pool[k].x - top) / mass;
        }
    }
}

cudaError_t softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream) {
    if (K < 1 || K > kKeep || K > V) return cudaErrorInvalidValue;
    sorted_candidates<<<rows, kLanes, 0, stream>>>(logits, indices, probs, V, K);
    return cudaGetLastError();
}
