// bug: blocks of 1024 threads, each with 32 values and 32 indices in registers: more than a multiprocessor has
// caught by: resources

#include <cuda_runtime.h>

constexpr int kLanesPerRow = 32;
constexpr int kBlock = 1024;
constexpr int kTop = 32;

__global__ void wide_block(const float* __restrict__ logits, int* __restrict__ indices, float* __restrict__ probs,
                           int rows, int V) {
    const int lane = threadIdx.x % kLanesPerRow;
    const int row = blockIdx.x * (kBlock / kLanesPerRow) + threadIdx.x / kLanesPerRow;
    if (row >= rows) return;
    const float* x = logits + (size_t)row * V;
    float value[kTop];
    int name[kTop];
#pragma unroll
    for (int i = 0; i < kTop; ++i) {
        value[i] = -INFINITY;
        name[i] = 0x7fffffff;
    }
    float m = -1e38f, d = 0.f;
    for (int v = lane; v < V; v += kLanesPerRow) {
        float y = x[v];
        int at = v;
        const float up = fmaxf(m, y);
        d = d * __expf(m - up) + __expf(y - up);
        m = up;
#pragma unroll
        for (int i = 0; i < kTop; ++i) {
            const bool swap = y > value[i] || (y == value[i] && at < name[i]);
            const float old = value[i];
            const int old_name = name[i];
            value[i] = swap ? y : old;
            name[i] = swap ? at : old_name;
            y = swap ? old : y;
            at = swap ? old_name : at;
        }
    }
    float top = m;
    for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
    d *= __expf(m - top);
    for (int o = 16; o; o >>= 1) d += __shfl_xor_sync(0xffffffffu, d, o);
    for (int k = 0; k < kTop; ++k) {
        float y = value[0];
        int at = name[0];
        for (int o = 16; o; o >>= 1) {
            const float z = __shfl_xor_sync(0xffffffffu, y, o);
            const int z_at = __shfl_xor_sync(0xffffffffu, at, o);
            if (z > y || (z == y && z_at < at)) {
                y = z;
                at = z_at;
            }
        }
        if (at == name[0]) {
#pragma unroll
            for (int i = 1; i < kTop; ++i) {
                value[i - 1] = value[i];
                name[i - 1] = name[i];
            }
            value[kTop - 1] = -INFINITY;
            name[kTop - 1] = 0x7fffffff;
        }
        if (lane == k) {
            indices[(size_t)row * kTop + k] = at;
            probs[(size_t)row * kTop + k] = expf(y - top) / d;
        }
    }
}

cudaError_t top32(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream) {
    if (K != kTop || V < K) return cudaErrorInvalidValue;
    constexpr int rows_per_block = kBlock / kLanesPerRow;
    wide_block<<<(rows + rows_per_block - 1) / rows_per_block, kBlock, 0, stream>>>(logits, indices, probs, rows, V);
    return cudaGetLastError();
}
