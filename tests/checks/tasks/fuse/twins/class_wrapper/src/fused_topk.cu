#include "fused_topk.cuh"
#include <cmath>

namespace decode {

/// Candidates of a tile join the list of the best; every one counts those that come before it.
template <typename index_t>
__global__ void fused_topk_kernel(const float* __restrict__ logits, index_t* __restrict__ indices,
                                  float* __restrict__ probs, int vocab, int k) {
    __shared__ float value[CAPACITY + THREADS], kept[CAPACITY];
    __shared__ int place[CAPACITY + THREADS], kept_place[CAPACITY];
    __shared__ float partial_max[THREADS], partial_sum[THREADS];
    const float* row = logits + static_cast<size_t>(blockIdx.x) * vocab;
    const int tid = threadIdx.x;

    float running_max = -INFINITY, running_sum = 0.f;
    int held = 0;
    for (int start = 0; start < vocab; start += THREADS) {
        const int fresh = min(THREADS, vocab - start);
        if (tid < held) { value[tid] = kept[tid]; place[tid] = kept_place[tid]; }
        if (tid < fresh) {
            const float x = row[start + tid];
            value[held + tid] = x;
            place[held + tid] = start + tid;
            const float larger = fmaxf(running_max, x);
            if (larger > -INFINITY)
                running_sum = running_sum * expf(running_max - larger) + expf(x - larger);
            running_max = larger;
        }
        __syncthreads();
        const int total = held + fresh;
        for (int j = tid; j < total; j += THREADS) {
            int before = 0;
            for (int i = 0; i < total; ++i) before += value[i] > value[j] || (value[i] == value[j] && i < j);
            if (before < k) { kept[before] = value[j]; kept_place[before] = place[j]; }
        }
        held = min(k, total);
        __syncthreads();
    }
    partial_max[tid] = running_max;
    partial_sum[tid] = running_sum;
    __syncthreads();
    float all_max = -INFINITY, all_sum = 0.f;
    for (int i = 0; i < THREADS; ++i) all_max = fmaxf(all_max, partial_max[i]);
    for (int i = 0; i < THREADS; ++i)
        if (partial_max[i] > -INFINITY) all_sum += partial_sum[i] * expf(partial_max[i] - all_max);
    if (tid < k) {
        const size_t out = static_cast<size_t>(blockIdx.x) * k + tid;
        indices[out] = kept_place[tid];
        probs[out] = expf(kept[tid] - all_max) / all_sum;
    }
}

cudaError_t FusedTopK::operator()(const float* logits, std::int64_t* indices, float* probs, int batch,
                                  int time, cudaStream_t stream) const {
    fused_topk_kernel<std::int64_t><<<batch * time, THREADS, 0, stream>>>(logits, indices, probs, vocab_, k_);
    return cudaPeekAtLastError();
}

}  // namespace decode
