// bug: a merged list of K > 32 entries is copied out by the lanes of one warp, so that entries 32 and on stay as they were
// caught by: k_range

#include <cuda_runtime.h>
#include <cfloat>

template <int TOP_K, int THREADS>
__global__ void __launch_bounds__(THREADS) topk_kernel(const float* logits, int* idx, float* prob, int V) {
    constexpr int WARPS = THREADS / 32;
    __shared__ float vals[TOP_K];
    __shared__ int ids[TOP_K];
    __shared__ float warp_val[WARPS];
    __shared__ int warp_id[WARPS];
    __shared__ float stats[WARPS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float* x = logits + (size_t)blockIdx.x * V;

    float m = -FLT_MAX;
    for (int v = threadIdx.x; v < V; v += THREADS) m = fmaxf(m, x[v]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
    if (lane == 0) stats[warp] = m;
    __syncthreads();
    for (int w = 0; w < WARPS; ++w) m = fmaxf(m, stats[w]);
    __syncthreads();
    float s = 0.f;
    for (int v = threadIdx.x; v < V; v += THREADS) s += expf(x[v] - m);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (lane == 0) stats[warp] = s;
    __syncthreads();
    s = 0.f;
    for (int w = 0; w < WARPS; ++w) s += stats[w];

    for (int k = threadIdx.x; k < TOP_K; k += THREADS) {
        vals[k] = -FLT_MAX;
        ids[k] = 0;
    }
    // every thread learns the whole list
    float list_val[TOP_K];
    int list_id[TOP_K];
    float cap = INFINITY;
    int cap_id = -1;
    for (int k = 0; k < TOP_K; ++k) {
        float best = -INFINITY;
        int id = 0x7fffffff;
        for (int v = threadIdx.x; v < V; v += THREADS) {
            const float y = x[v];
            if (y < cap || (y == cap && v > cap_id))
                if (y > best || (y == best && v < id)) {
                    best = y;
                    id = v;
                }
        }
        for (int o = 16; o; o >>= 1) {
            const float y = __shfl_xor_sync(0xffffffffu, best, o);
            const int y_id = __shfl_xor_sync(0xffffffffu, id, o);
            if (y > best || (y == best && y_id < id)) {
                best = y;
                id = y_id;
            }
        }
        __syncthreads();
        if (lane == 0) {
            warp_val[warp] = best;
            warp_id[warp] = id;
        }
        __syncthreads();
        for (int w = 0; w < WARPS; ++w)
            if (warp_val[w] > best || (warp_val[w] == best && warp_id[w] < id)) {
                best = warp_val[w];
                id = warp_id[w];
            }
        list_val[k] = cap = best;
        list_id[k] = cap_id = id;
    }
    if (warp == 0 && lane < TOP_K) {
        vals[lane] = list_val[lane];
        ids[lane] = list_id[lane];
    }
    __syncthreads();
    for (int k = threadIdx.x; k < TOP_K; k += THREADS) {
        idx[(size_t)blockIdx.x * TOP_K + k] = ids[k];
        prob[(size_t)blockIdx.x * TOP_K + k] = expf(vals[k] - m) / s;
    }
}

cudaError_t launch_topk_kernel(const float* logits, int* idx, float* prob, int B, int T, int V, int K, cudaStream_t st) {
    if (V < K) return cudaErrorInvalidValue;
    if (K == 10) topk_kernel<10, 128><<<B * T, 128, 0, st>>>(logits, idx, prob, V);
    else if (K == 32) topk_kernel<32, 128><<<B * T, 128, 0, st>>>(logits, idx, prob, V);
    else if (K == 64) topk_kernel<64, 128><<<B * T, 128, 0, st>>>(logits, idx, prob, V);
    else return cudaErrorInvalidValue;
    return cudaGetLastError();
}
