// bug: the running maximum starts at -inf, so that a stripe that begins with -inf computes exp(-inf - -inf) = NaN
// caught by: numerics

#include <cuda_runtime.h>

namespace {

struct Running {
    float m = -INFINITY;
    float d = 0.0f;
    __device__ void see(float x) {
        const float m_new = fmaxf(m, x);
        d = d * expf(m - m_new) + expf(x - m_new);
        m = m_new;
    }
    __device__ void join(float m2, float d2) {
        const float m_new = fmaxf(m, m2);
        d = d * expf(m - m_new) + d2 * expf(m2 - m_new);
        m = m_new;
    }
};

template <int K>
__global__ __launch_bounds__(32) void one_warp(const float* logits, int* ids, float* probs, int V) {
    const int lane = threadIdx.x;
    const float* x = logits + size_t(blockIdx.x) * V;
    Running r;
    float kept[K];
    int id[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
        kept[k] = -INFINITY;
        id[k] = 0x7fffffff;
    }
    // the first K logits of a stripe fill the list in order of arrival, later ones by rank
    for (int v = lane; v < V; v += 32) {
        float y = x[v];
        int y_id = v;
        r.see(y);
#pragma unroll
        for (int k = 0; k < K; ++k) {
            if (y > kept[k] || (y == kept[k] && y_id < id[k])) {
                const float t = kept[k];
                kept[k] = y;
                y = t;
                const int i = id[k];
                id[k] = y_id;
                y_id = i;
            }
        }
    }
    for (int o = 1; o < 32; o <<= 1) {
        const float m2 = __shfl_xor_sync(0xffffffff, r.m, o);
        const float d2 = __shfl_xor_sync(0xffffffff, r.d, o);
        r.join(m2, d2);
    }
    for (int k = 0; k < K; ++k) {
        float y = kept[0];
        int y_id = id[0];
        for (int o = 1; o < 32; o <<= 1) {
            const float z = __shfl_xor_sync(0xffffffff, y, o);
            const int z_id = __shfl_xor_sync(0xffffffff, y_id, o);
            if (z > y || (z == y && z_id < y_id)) {
                y = z;
                y_id = z_id;
            }
        }
        if (id[0] == y_id) {
#pragma unroll
            for (int i = 1; i < K; ++i) {
                kept[i - 1] = kept[i];
                id[i - 1] = id[i];
            }
            kept[K - 1] = -INFINITY;
            id[K - 1] = 0x7fffffff;
        }
        if (lane == k % 32) {
            ids[size_t(blockIdx.x) * K + k] = y_id;
            probs[size_t(blockIdx.x) * K + k] = expf(y - r.m) / r.d;
        }
    }
}

}  // namespace

cudaError_t online_topk(const float* logits, int* ids, float* probs, int rows, int V, int K, cudaStream_t s) {
    if (V < K || V < 32) return cudaErrorInvalidValue;
    if (K == 4) one_warp<4><<<rows, 32, 0, s>>>(logits, ids, probs, V);
    else if (K == 10) one_warp<10><<<rows, 32, 0, s>>>(logits, ids, probs, V);
    else if (K == 32) one_warp<32><<<rows, 32, 0, s>>>(logits, ids, probs, V);
    else return cudaErrorInvalidValue;
    return cudaGetLastError();
}
