// bug: the heap is written out as it lies, the smallest of the K first and the others in no order
// caught by: topk_correct

#include <cstdint>
#include <cuda_runtime.h>

namespace sampler {

// One thread block of one warp per row. Lanes stream the row; lane 0 owns a binary min-heap.
template <int K>
__global__ void heap_kernel(const float* __restrict__ logits, int32_t* __restrict__ ids, float* __restrict__ probs,
                            int32_t vocab) {
    __shared__ float heap[K];
    __shared__ int32_t name[K];
    const int lane = threadIdx.x;
    const float* x = logits + int64_t(blockIdx.x) * vocab;
    int filled = 0;
    float m = -3.4e38f, d = 0.0f;
    for (int base = 0; base < vocab; base += 32) {
        const float y = base + lane < vocab ? x[base + lane] : 0.0f;
        const int here = min(32, vocab - base);
        for (int j = 0; j < here; ++j) {
            const float z = __shfl_sync(0xffffffffu, y, j);
            if (lane != 0) continue;
            if (z > m) {
                d *= expf(m - z);
                m = z;
            }
            d += expf(z - m);
            int at;
            if (filled < K) {
                at = filled++;
                while (at > 0 && heap[(at - 1) / 2] > z) {
                    heap[at] = heap[(at - 1) / 2];
                    name[at] = name[(at - 1) / 2];
                    at = (at - 1) / 2;
                }
            } else if (z > heap[0]) {
                at = 0;
                for (int child = 1; child < K; child = 2 * at + 1) {
                    if (child + 1 < K && heap[child + 1] < heap[child]) ++child;
                    if (heap[child] >= z) break;
                    heap[at] = heap[child];
                    name[at] = name[child];
                    at = child;
                }
            } else {
                continue;
            }
            heap[at] = z;
            name[at] = base + j;
        }
        __syncwarp();
    }
    m = __shfl_sync(0xffffffffu, m, 0);
    d = __shfl_sync(0xffffffffu, d, 0);
    __syncwarp();
    for (int k = lane; k < K; k += 32) {
        ids[int64_t(blockIdx.x) * K + k] = name[k];
        probs[int64_t(blockIdx.x) * K + k] = expf(heap[k] - m) / d;
    }
}

}  // namespace sampler

cudaError_t sample_topk(const float* logits, int32_t* ids, float* probs, int32_t batch, int32_t vocab, int32_t k,
                        cudaStream_t stream) {
    if (vocab < k) return cudaErrorInvalidValue;
    if (k == 8) sampler::heap_kernel<8><<<batch, 32, 0, stream>>>(logits, ids, probs, vocab);
    else if (k == 10) sampler::heap_kernel<10><<<batch, 32, 0, stream>>>(logits, ids, probs, vocab);
    else if (k == 50) sampler::heap_kernel<50><<<batch, 32, 0, stream>>>(logits, ids, probs, vocab);
    else return cudaErrorInvalidValue;
    return cudaGetLastError();
}
