// bug: a tree over the threads of a row of middling length halves odd counts and drops the thread left over
// caught by: topk_correct, rows_independent
// passes: compiles, memory_safety

#include <cuda_runtime.h>
#include <math.h>

constexpr int kFewest = 32, kMost = 128, kEach = 8;

template <typename Join>
__device__ float tree(float mine, float* kept, Join join) {
    kept[threadIdx.x] = mine;
    __syncthreads();
    for (int live = blockDim.x; live > 1; live /= 2) {
        const int half = live / 2;
        if (threadIdx.x < half) kept[threadIdx.x] = join(kept[threadIdx.x], kept[threadIdx.x + half]);
        __syncthreads();
    }
    const float all = kept[0];
    __syncthreads();
    return all;
}

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Added {
    __device__ float operator()(float a, float b) const { return a + b; }
};

// Every thread looks for its own best behind the last one; the first thread takes the best of those.
__device__ void choose(const float* row, int vocab, int k, float top, float total, int* ids, float* chances) {
    __shared__ float keys[kMost];
    __shared__ int places[kMost];
    __shared__ float last;
    __shared__ int from;
    if (threadIdx.x == 0) {
        last = INFINITY;
        from = -1;
    }
    __syncthreads();
    for (int rank = 0; rank < k; ++rank) {
        int place = -1;
        for (int i = threadIdx.x; i < vocab; i += blockDim.x) {
            const bool left = row[i] < last || (row[i] == last && i > from);
            if (left && (place < 0 || row[i] > row[place])) place = i;
        }
        places[threadIdx.x] = place;
        keys[threadIdx.x] = place < 0 ? -INFINITY : row[place];
        __syncthreads();
        if (threadIdx.x == 0) {
            int best = -1;
            for (int t = 0; t < blockDim.x; ++t) {
                if (places[t] < 0) continue;
                const bool tied = best >= 0 && keys[t] == keys[best];
                if (best < 0 || keys[t] > keys[best] || (tied && places[t] < places[best])) best = t;
            }
            if (best >= 0) {
                last = keys[best];
                from = places[best];
            }
            ids[rank] = best < 0 ? rank : from;
            chances[rank] = best < 0 ? NAN : expf(last - top) / total;
        }
        __syncthreads();
    }
}

__global__ void fused(const float* logits, int* ids, float* chances, int vocab, int k) {
    __shared__ float kept[kMost];
    const float* row = logits + size_t(blockIdx.x) * vocab;
    float top = -INFINITY, total = 0.0f;
    for (int i = threadIdx.x; i < vocab; i += blockDim.x) top = fmaxf(top, row[i]);
    top = tree(top, kept, Larger());
    for (int i = threadIdx.x; i < vocab; i += blockDim.x) total += expf(row[i] - top);
    total = tree(total, kept, Added());
    choose(row, vocab, k, top, total, ids + size_t(blockIdx.x) * k, chances + size_t(blockIdx.x) * k);
}

cudaError_t softmax_topk(const float* logits, int* ids, float* chances, int rows, int vocab, int k,
                         cudaStream_t stream) {
    if (k < 1 || k > vocab) return cudaErrorInvalidValue;
    const int threads = min(kMost, max(kFewest, (vocab + kEach - 1) / kEach));
    if (rows > 0) fused<<<rows, threads, 0, stream>>>(logits, ids, chances, vocab, k);
    return cudaGetLastError();
}
