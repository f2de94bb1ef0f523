// bug: the sum of exponentials is kept in half precision: probabilities are off by parts in a thousand
// caught by: topk_correct

#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Two warps per row, rows side by side in y; K registers per lane are held in a small struct.
template <int K>
struct Best {
    float x[K];
    int at[K];
};

template <int K>
__device__ __forceinline__ void keep(Best<K>& b, float x, int at) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
        if (x > b.x[k] || (x == b.x[k] && at < b.at[k])) {
            const float y = b.x[k];
            const int y_at = b.at[k];
            b.x[k] = x;
            b.at[k] = at;
            x = y;
            at = y_at;
        }
    }
}

template <int K>
__global__ void pair_of_warps(const float* logits, int* indices, float* probs, int rows, int V) {
    __shared__ float xs[4][64][K];
    __shared__ int ats[4][64][K];
    __shared__ float maxima[4][2];
    __shared__ __half sums[4][2];
    const int t = threadIdx.x, slot = threadIdx.y, half_of = t / 32;
    const int row = blockIdx.x * 4 + slot;
    Best<K> best;
#pragma unroll
    for (int k = 0; k < K; ++k) {
        best.x[k] = -INFINITY;
        best.at[k] = 0x7fffffff;
    }
    float m = -1e30f;
    const float* x = logits + (size_t)(row < rows ? row : 0) * V;
    for (int v = t; v < V; v += 64) {
        m = fmaxf(m, x[v]);
        keep(best, x[v], v);
    }
#pragma unroll
    for (int k = 0; k < K; ++k) {
        xs[slot][t][k] = best.x[k];
        ats[slot][t][k] = best.at[k];
    }
    for (int o = 16; o; o /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
    if (t % 32 == 0) maxima[slot][half_of] = m;
    __syncthreads();
    m = fmaxf(maxima[slot][0], maxima[slot][1]);
    __half s = __float2half(0.0f);
    for (int v = t; v < V; v += 64) s = __hadd(s, __float2half(expf(x[v] - m)));
    float total = __half2float(s);
    for (int o = 16; o; o /= 2) total += __shfl_xor_sync(0xffffffffu, total, o);
    if (t % 32 == 0) sums[slot][half_of] = __float2half(total);
    __syncthreads();
    if (t == 0 && row < rows) {
        const float mass = __half2float(sums[slot][0]) + __half2float(sums[slot][1]);
        for (int u = 1; u < 64; ++u)
            for (int k = 0; k < K; ++k) keep(best, xs[slot][u][k], ats[slot][u][k]);
#pragma unroll
        for (int k = 0; k < K; ++k) {
            indices[(size_t)row * K + k] = best.at[k];
            probs[(size_t)row * K + k] = expf(best.x[k] - m) / mass;
        }
    }
}

cudaError_t softmax_topk_half(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t st) {
    if (V < K) return cudaErrorInvalidValue;
    const dim3 block(64, 4);
    const int grid = (rows + 3) / 4;
    switch (K) {
        case 5: pair_of_warps<5><<<grid, block, 0, st>>>(logits, indices, probs, rows, V); break;
        case 10: pair_of_warps<10><<<grid, block, 0, st>>>(logits, indices, probs, rows, V); break;
        default: return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}
