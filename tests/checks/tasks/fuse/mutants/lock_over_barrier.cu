// bug: warps take a lock to merge in turn, and whoever holds it waits at a barrier for those who wait for the lock
// caught by: topk_correct, memory_safety

#include <cuda_runtime.h>
#include <climits>

template <int K, int WARPS>
struct Shared {
    float value[K];
    int index[K];
    float lane_value[32];
    int lane_index[32];
    float m[WARPS], d[WARPS];
    int lock;
};

template <int K, int WARPS>
__global__ void locked_merge(const float* logits, int* indices, float* probs, int vocab) {
    __shared__ Shared<K, WARPS> s;
    constexpr int threads = WARPS * 32;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float* x = logits + size_t(blockIdx.x) * vocab;

    if (threadIdx.x == 0) s.lock = 0;
    for (int k = threadIdx.x; k < K; k += threads) {
        s.value[k] = -INFINITY;
        s.index[k] = INT_MAX;
    }
    float v[K];
    int n[K];
    for (int k = 0; k < K; ++k) n[k] = -1;
    float m = -1e30f, d = 0.f;
    for (int i = threadIdx.x; i < vocab; i += threads) {
        const float y = x[i], up = fmaxf(m, y);
        d = d * expf(m - up) + expf(y - up);
        m = up;
        if (n[K - 1] >= 0 && v[K - 1] >= y) continue;
        int k = K - 1;
        for (; k > 0 && (n[k - 1] < 0 || v[k - 1] < y); --k) {
            v[k] = v[k - 1];
            n[k] = n[k - 1];
        }
        v[k] = y;
        n[k] = i;
    }
    float top = m;
    for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, o));
    d *= expf(m - top);
    for (int o = 16; o; o >>= 1) d += __shfl_xor_sync(~0u, d, o);
    if (lane == 0) {
        s.m[warp] = top;
        s.d[warp] = d;
    }
    __syncthreads();

    if (lane == 0)
        while (atomicCAS(&s.lock, 0, 1) != 0) {
        }
    __syncwarp();
    for (int k = 0; k < K; ++k) {
        s.lane_value[lane] = v[k];
        s.lane_index[lane] = n[k];
        __syncthreads();  // the staged entries must be seen by the leader
        if (lane == 0)
            for (int l = 0; l < 32; ++l) {
                if (s.lane_index[l] < 0) continue;
                int at = K - 1;
                if (s.value[at] >= s.lane_value[l] && s.index[at] != INT_MAX) continue;
                for (; at > 0 && s.value[at - 1] < s.lane_value[l]; --at) {
                    s.value[at] = s.value[at - 1];
                    s.index[at] = s.index[at - 1];
                }
                s.value[at] = s.lane_value[l];
                s.index[at] = s.lane_index[l];
            }
        __syncwarp();
    }
    if (lane == 0) atomicExch(&s.lock, 0);
    __syncthreads();

    for (int w = 0; w < WARPS; ++w) top = fmaxf(top, s.m[w]);
    float all = 0.f;
    for (int w = 0; w < WARPS; ++w) all += s.d[w] * expf(s.m[w] - top);
    for (int k = threadIdx.x; k < K; k += threads) {
        indices[size_t(blockIdx.x) * K + k] = s.index[k];
        probs[size_t(blockIdx.x) * K + k] = expf(s.value[k] - top) / all;
    }
}

int launch(const float* logits, int* indices, float* probs, int rows, int vocab, int k, cudaStream_t stream) {
    if (k > vocab) return cudaErrorInvalidValue;
    switch (k) {
        case 5: locked_merge<5, 4><<<rows, 128, 0, stream>>>(logits, indices, probs, vocab); break;
        case 10: locked_merge<10, 4><<<rows, 128, 0, stream>>>(logits, indices, probs, vocab); break;
        default: return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}
