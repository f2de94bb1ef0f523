// bug: the running threshold is exchanged by a full-mask shuffle inside a loop that lanes leave at different times
// caught by: memory_safety

#include <cuda_runtime.h>
#include <math_constants.h>

#define FULL 0xffffffffu

template <int K>
__global__ void thresholded(const float* __restrict__ logits, int* __restrict__ indices, float* __restrict__ probs, int V) {
    // one warp per row; each lane keeps its K best, and skips what is below the warp's best K-th
    const int lane = threadIdx.x;
    const float* x = logits + (size_t)blockIdx.x * V;
    float v[K];
    int n[K];
    for (int k = 0; k < K; ++k) {
        v[k] = -CUDART_INF_F;
        n[k] = -1;
    }
    float m = -1e30f, s = 0.f;
    for (int j = lane; j < V; j += 32) {
        float bar = v[K - 1];
        for (int o = 16; o; o >>= 1) bar = fmaxf(bar, __shfl_xor_sync(FULL, bar, o));
        const float y = x[j];
        const float up = fmaxf(m, y);
        s = s * expf(m - up) + expf(y - up);
        m = up;
        if (y < bar || (y <= v[K - 1] && n[K - 1] >= 0)) continue;
        int k = K - 1;
        while (k > 0 && (n[k - 1] < 0 || v[k - 1] < y)) {
            v[k] = v[k - 1];
            n[k] = n[k - 1];
            --k;
        }
        v[k] = y;
        n[k] = j;
    }
    __syncwarp();
    float top = m;
    for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(FULL, top, o));
    s *= expf(m - top);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(FULL, s, o);

    int head = 0;
    for (int r = 0; r < K; ++r) {
        float best = head < K ? v[head] : -CUDART_INF_F;
        int at = head < K && n[head] >= 0 ? n[head] : 0x7fffffff;
        const int mine = at;
        for (int o = 16; o; o >>= 1) {
            const float y = __shfl_xor_sync(FULL, best, o);
            const int y_at = __shfl_xor_sync(FULL, at, o);
            if (y > best || (y == best && y_at < at)) {
                best = y;
                at = y_at;
            }
        }
        if (mine == at && mine != 0x7fffffff) ++head;
        if (lane == 0) {
            indices[(size_t)blockIdx.x * K + r] = at;
            probs[(size_t)blockIdx.x * K + r] = expf(best - top) / s;
        }
    }
}

cudaError_t launch_topk(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    if (V < K) return cudaErrorInvalidValue;
    if (K == 1) thresholded<1><<<rows, 32>>>(logits, indices, probs, V);
    else if (K == 8) thresholded<8><<<rows, 32>>>(logits, indices, probs, V);
    else if (K == 10) thresholded<10><<<rows, 32>>>(logits, indices, probs, V);
    else return cudaErrorInvalidValue;
    return cudaGetLastError();
}
