// style: FLT_MAX without <cfloat>, a block-wide min-heap in shared memory fed tile by tile, macros for the instances
// style: one writer per block; ranks instead of a sort
// only: resources, topk_correct, rows_independent, k_range, numerics, no_materialize, memory_safety

#include <cuda_runtime.h>

#define TILE 128

template <unsigned K>
__device__ void push_down(float (&heap)[K], int (&token)[K]) {
    unsigned node = 0;
    for (;;) {
        unsigned child = 2 * node + 1;
        if (child >= K) return;
        if (child + 1 < K &&
            (heap[child + 1] < heap[child] || (heap[child + 1] == heap[child] && token[child + 1] > token[child])))
            ++child;
        const bool worse = heap[child] < heap[node] || (heap[child] == heap[node] && token[child] > token[node]);
        if (!worse) return;
        const float h = heap[node];
        heap[node] = heap[child];
        heap[child] = h;
        const int k = token[node];
        token[node] = token[child];
        token[child] = k;
        node = child;
    }
}

template <unsigned K>
__global__ void heap_per_block(const float* logits, int* out_token, float* out_prob, int vocab) {
    __shared__ float heap[K];
    __shared__ int token[K];
    __shared__ float tile[TILE];
    __shared__ float m, d;
    const float* row = logits + (long)blockIdx.x * vocab;

    for (unsigned k = threadIdx.x; k < K; k += TILE) {
        heap[k] = -INFINITY;
        token[k] = 0x7fffffff;
    }
    if (threadIdx.x == 0) {
        m = -FLT_MAX;
        d = 0.0f;
    }
    for (int base = 0; base < vocab; base += TILE) {
        __syncthreads();
        const int v = base + threadIdx.x;
        tile[threadIdx.x] = v < vocab ? row[v] : -INFINITY;
        __syncthreads();
        if (threadIdx.x == 0) {
            // the only writer of the heap
            const int n = min(TILE, vocab - base);
            float tile_max = tile[0];
            for (int i = 1; i < n; ++i) tile_max = fmaxf(tile_max, tile[i]);
            const float m_new = fmaxf(m, tile_max);
            float tile_sum = 0.0f;
            for (int i = 0; i < n; ++i) {
                tile_sum += expf(tile[i] - m_new);
                if (tile[i] > heap[0] || (tile[i] == heap[0] && base + i < token[0])) {
                    heap[0] = tile[i];
                    token[0] = base + i;
                    push_down(heap, token);
                }
            }
            d = d * expf(m - m_new) + tile_sum;
            m = m_new;
        }
    }
    __syncthreads();
    // rank instead of sort: the place of an entry is the number of entries before it
    for (unsigned k = threadIdx.x; k < K; k += TILE) {
        unsigned place = 0;
        for (unsigned j = 0; j < K; ++j) place += heap[j] > heap[k] || (heap[j] == heap[k] && token[j] < token[k]);
        out_token[(long)blockIdx.x * K + place] = token[k];
        out_prob[(long)blockIdx.x * K + place] = expf(heap[k] - m) / d;
    }
}

#define INSTANCE(K) \
    case K: heap_per_block<K><<<rows, TILE, 0, stream>>>(logits, indices, probs, vocab); break

cudaError_t fused_softmax_topk(const float* logits, int* indices, float* probs, int rows, int vocab, int k,
                               cudaStream_t stream) {
    if (k > vocab) return cudaErrorInvalidValue;
    switch (k) {
        INSTANCE(1);
        INSTANCE(10);
        INSTANCE(32);
        INSTANCE(33);
        INSTANCE(64);
        INSTANCE(256);
        default: return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}
