// bug: where two lanes are merged, their sums are multiplied by exp(max - own) in place of exp(own - max)
// caught by: topk_correct, rows_independent, numerics, k_range
// passes: compiles, memory_safety

#include <cuda_runtime.h>
#include <math.h>

constexpr int kThreads = 32;

struct Tally {
    float top = -INFINITY, total = 0.0f;

    __device__ void take(float x) {
        if (x == -INFINITY) return;
        const float higher = fmaxf(top, x);
        total = (top == -INFINITY ? 0.0f : total * expf(top - higher)) + expf(x - higher);
        top = higher;
    }
};

__device__ Tally merged(Tally mine) {
    for (int far = 1; far < kThreads; far <<= 1) {
        const float other = __shfl_xor_sync(0xffffffffu, mine.top, far);
        const float more = __shfl_xor_sync(0xffffffffu, mine.total, far);
        const float both = fmaxf(mine.top, other);
        mine.total = (mine.total > 0.0f ? mine.total * expf(both - mine.top) : 0.0f) +
                     (more > 0.0f ? more * expf(both - other) : 0.0f);
        mine.top = both;
    }
    return mine;
}

// The best of a block's threads by (logit, index), a round for each rank.
__device__ void choose(const float* row, int vocab, int k, float top, float total, int* ids, float* chances) {
    __shared__ float keys[kThreads];
    __shared__ int places[kThreads];
    float last = INFINITY;
    int from = -1;
    for (int rank = 0; rank < k; ++rank) {
        float key = -INFINITY;
        int place = vocab;
        for (int i = threadIdx.x; i < vocab; i += kThreads) {
            const bool left = row[i] < last || (row[i] == last && i > from);
            if (left && (place == vocab || row[i] > key)) {
                key = row[i];
                place = i;
            }
        }
        keys[threadIdx.x] = key;
        places[threadIdx.x] = place;
        __syncthreads();
        for (int half = kThreads / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) {
                const int other = threadIdx.x + half;
                const bool better = keys[other] > keys[threadIdx.x] ||
                                    (keys[other] == keys[threadIdx.x] && places[other] < places[threadIdx.x]);
                if (better) {
                    keys[threadIdx.x] = keys[other];
                    places[threadIdx.x] = places[other];
                }
            }
            __syncthreads();
        }
        last = keys[0];
        from = places[0];
        if (threadIdx.x == 0) {
            ids[rank] = from;
            chances[rank] = expf(last - top) / total;
        }
        __syncthreads();
    }
}

__global__ void fused(const float* logits, int* ids, float* chances, int vocab, int k) {
    const float* row = logits + size_t(blockIdx.x) * vocab;
    Tally mine;
    const int each = (vocab + kThreads - 1) / kThreads;
    for (int i = threadIdx.x * each; i < min(vocab, (threadIdx.x + 1) * each); ++i) mine.take(row[i]);
    const Tally all = merged(mine);
    choose(row, vocab, k, all.top, all.total, ids + size_t(blockIdx.x) * k, chances + size_t(blockIdx.x) * k);
}

cudaError_t softmax_topk(const float* logits, int* ids, float* chances, int rows, int vocab, int k,
                         cudaStream_t stream) {
    if (k < 1 || k > vocab) return cudaErrorInvalidValue;
    if (rows > 0) fused<<<rows, kThreads, 0, stream>>>(logits, ids, chances, vocab, k);
    return cudaGetLastError();
}
