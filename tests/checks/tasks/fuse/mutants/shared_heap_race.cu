// bug: the leaders of all warps insert into one heap in shared memory at the same time, without a lock or a turn
// caught by: memory_safety

#include <cfloat>
#include <cuda_runtime.h>

namespace fused {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

template <int K>
struct SharedHeap {
    float value[K];
    int token[K];

    __device__ void replace_root(float x, int t) {
        int node = 0;
        while (2 * node + 1 < K) {
            int child = 2 * node + 1;
            if (child + 1 < K && value[child + 1] < value[child]) ++child;
            if (!(value[child] < x)) break;
            value[node] = value[child];
            token[node] = token[child];
            node = child;
        }
        value[node] = x;
        token[node] = t;
    }
};

template <int K>
__global__ void topk_kernel(const float* logits, int* indices, float* probabilities, int vocab) {
    __shared__ SharedHeap<K> heap;
    __shared__ float tile[kWarps][32];
    __shared__ float maxima[kWarps];
    __shared__ float sums[kWarps];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float* row = logits + size_t(blockIdx.x) * vocab;

    for (int k = threadIdx.x; k < K; k += kThreads) {
        heap.value[k] = -FLT_MAX;
        heap.token[k] = -1;
    }
    __syncthreads();

    float m = -FLT_MAX, d = 0.0f;
    const int tiles = (vocab + kThreads - 1) / kThreads;
    for (int i = 0; i < tiles; ++i) {
        const int base = i * kThreads + warp * 32;
        const int v = base + lane;
        const float x = v < vocab ? row[v] : -FLT_MAX;
        tile[warp][lane] = x;
        if (v < vocab) {
            const float m_new = fmaxf(m, x);
            d = d * expf(m - m_new) + expf(x - m_new);
            m = m_new;
        }
        __syncwarp();
        if (lane == 0)
            for (int j = 0; j < 32 && base + j < vocab; ++j)
                if (tile[warp][j] > heap.value[0]) heap.replace_root(tile[warp][j], base + j);
        __syncwarp();
    }
    float top = m;
    for (int o = 16; o; o /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, o));
    d *= expf(m - top);
    for (int o = 16; o; o /= 2) d += __shfl_xor_sync(0xffffffff, d, o);
    if (lane == 0) {
        maxima[warp] = top;
        sums[warp] = d;
    }
    __syncthreads();
    for (int w = 0; w < kWarps; ++w) top = fmaxf(top, maxima[w]);
    float total = 0.0f;
    for (int w = 0; w < kWarps; ++w) total += sums[w] * expf(maxima[w] - top);

    for (int k = threadIdx.x; k < K; k += kThreads) {
        int place = 0;
        for (int j = 0; j < K; ++j)
            place += heap.value[j] > heap.value[k] || (heap.value[j] == heap.value[k] && j < k);
        indices[size_t(blockIdx.x) * K + place] = heap.token[k];
        probabilities[size_t(blockIdx.x) * K + place] = expf(heap.value[k] - top) / total;
    }
}

}  // namespace fused

cudaError_t fused_softmax_topk(const float* logits, int* indices, float* probabilities, int rows, int vocab, int k,
                               cudaStream_t stream) {
    using namespace fused;
    if (vocab < k) return cudaErrorInvalidValue;
    switch (k) {
        case 8: topk_kernel<8><<<rows, kThreads, 0, stream>>>(logits, indices, probabilities, vocab); break;
        case 16: topk_kernel<16><<<rows, kThreads, 0, stream>>>(logits, indices, probabilities, vocab); break;
        case 64: topk_kernel<64><<<rows, kThreads, 0, stream>>>(logits, indices, probabilities, vocab); break;
        default: return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}
