// style: cub: a block radix sort of each tile together with the best so far, block reductions for maximum and sum
// style: K may be anything up to 128; templates on threads and items

#include <cfloat>
#include <cub/cub.cuh>

template <int THREADS, int ITEMS>
__global__ void __launch_bounds__(THREADS)
    sorted_tiles(const float* d_in, int* d_indices, float* d_probs, int vocab, int k) {
    constexpr int TILE = THREADS * ITEMS;
    using Sort = cub::BlockRadixSort<float, THREADS, ITEMS, int>;
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Reduce::TempStorage reduce;
    } temp;
    __shared__ float best[TILE / 2];
    __shared__ int best_at[TILE / 2];
    __shared__ float shared_max, shared_sum;

    const float* x = d_in + static_cast<size_t>(blockIdx.x) * vocab;

    // half of the tile holds the best so far, half of it new logits
    for (int i = threadIdx.x; i < TILE / 2; i += THREADS) {
        best[i] = -INFINITY;
        best_at[i] = -1;
    }
    __syncthreads();
    float thread_max = -FLT_MAX;
    for (int base = 0; base < vocab; base += TILE / 2) {
        float key[ITEMS];
        int value[ITEMS];
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const int slot = threadIdx.x * ITEMS + i;
            if (slot < TILE / 2) {
                key[i] = best[slot];
                value[i] = best_at[slot];
            } else {
                const int j = base + slot - TILE / 2;
                key[i] = j < vocab ? x[j] : -INFINITY;
                value[i] = j < vocab ? j : -1;
                if (j < vocab) thread_max = fmaxf(thread_max, x[j]);
            }
            // an empty slot must sort behind a logit of -inf: shift every logit of -inf to the lowest finite number
            if (value[i] >= 0 && key[i] == -INFINITY) key[i] = -FLT_MAX;
        }
        __syncthreads();
        Sort(temp.sort).SortDescending(key, value);
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            const int slot = threadIdx.x * ITEMS + i;
            if (slot < TILE / 2) {
                best[slot] = key[i];
                best_at[slot] = value[i];
            }
        }
        __syncthreads();
    }

    const float block_max = Reduce(temp.reduce).Reduce(thread_max, [](float a, float b) { return a > b ? a : b; });
    if (threadIdx.x == 0) shared_max = block_max;
    __syncthreads();
    float part = 0.0f;
    for (int j = threadIdx.x; j < vocab; j += THREADS) part += expf(x[j] - shared_max);
    const float block_sum = Reduce(temp.reduce).Sum(part);
    if (threadIdx.x == 0) shared_sum = block_sum;
    __syncthreads();

    for (int i = threadIdx.x; i < k; i += THREADS) {
        const int j = best_at[i];
        d_indices[static_cast<size_t>(blockIdx.x) * k + i] = j;
        d_probs[static_cast<size_t>(blockIdx.x) * k + i] = expf(x[j] - shared_max) / shared_sum;
    }
}

cudaError_t fused_softmax_topk(const float* d_logits, int* d_indices, float* d_probs, int batch, int vocab, int k,
                               cudaStream_t stream) {
    if (k < 1 || k > 128 || k > vocab || batch < 1) return cudaErrorInvalidValue;
    sorted_tiles<128, 4><<<batch, 128, 0, stream>>>(d_logits, d_indices, d_probs, vocab, k);
    return cudaGetLastError();
}
