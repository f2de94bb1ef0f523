/*
 * fused_softmax_topk.cu -- fused softmax + top-k, version 1 (production)
 *
 * Input : logits  [B, T, V]  float32, row-major
 * Output: indices [B, T, K]  int32, largest probability first
 *         probs   [B, T, K]  float32
 *
 * The [B, T, V] softmax is never materialized. One thread block works on one
 * (b, t) row, so rows cannot interfere with each other:
 *
 *   Phase 1  maximum of the row            (block reduction)
 *   Phase 2  sum of exp(x - max)           (block reduction, log-sum-exp trick)
 *   Phase 3  per-thread top-K candidates   (LocalTopK, registers / local memory)
 *   Phase 4  merge into a shared min-heap  (one warp at a time, staged)
 *   Phase 5  sort the K winners and write  (selection sort)
 */

#include <cfloat>
#include <climits>
#include <cmath>
#include <cuda_runtime.h>

static constexpr int BLOCK_SIZE = 256;
static constexpr int WARP_SIZE = 32;
static constexpr int NUM_WARPS = BLOCK_SIZE / WARP_SIZE;

/* Candidates that a lane hands over per staging round. */
static constexpr int STAGE_PER_LANE = 16;
/* One warp stages at a time: 32 * 16 floats (2048 B) and as many ints (2048 B). */
static constexpr int STAGE_SIZE = WARP_SIZE * STAGE_PER_LANE;

/* ------------------------------------------------------------------------ */
/* Warp primitives                                                          */
/* ------------------------------------------------------------------------ */

static __device__ __forceinline__ float warp_max(float v)
{
    #pragma unroll
    for (int mask = WARP_SIZE / 2; mask > 0; mask >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, mask));
    return v;
}

static __device__ __forceinline__ float warp_sum(float v)
{
    #pragma unroll
    for (int mask = WARP_SIZE / 2; mask > 0; mask >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, mask);
    return v;
}

/* ------------------------------------------------------------------------ */
/* Per-thread candidates: K slots, the smallest is evicted                  */
/* ------------------------------------------------------------------------ */

template <int K>
struct LocalTopK {
    float vals[K];
    int   idxs[K];
    int   count;
    int   min_pos;

    __device__ __forceinline__ void init()
    {
        count = 0;
        min_pos = 0;
    }

    __device__ __forceinline__ void find_min()
    {
        min_pos = 0;
        for (int i = 1; i < K; ++i)
            if (vals[i] < vals[min_pos]) min_pos = i;
    }

    __device__ __forceinline__ void insert(float v, int idx)
    {
        if (count < K) {
            vals[count] = v;
            idxs[count] = idx;
            if (++count == K) find_min();
        } else if (v > vals[min_pos]) {
            vals[min_pos] = v;
            idxs[min_pos] = idx;
            find_min();
        }
    }
};

/* ------------------------------------------------------------------------ */
/* Shared min-heap: the root is the smallest of the K best so far           */
/* ------------------------------------------------------------------------ */

/* An empty slot is (-inf, INT_MAX). Among equal values the larger index is worse. */
static __device__ __forceinline__ bool worse(float v1, int i1, float v2, int i2)
{
    return v1 < v2 || (v1 == v2 && i1 > i2);
}

template <int K>
static __device__ void heap_sift_down(float* s_heap_vals, int* s_heap_idxs, int root)
{
    while (true) {
        int smallest = root;
        const int left = 2 * root + 1;
        const int right = 2 * root + 2;
        if (left < K && worse(s_heap_vals[left], s_heap_idxs[left],
                              s_heap_vals[smallest], s_heap_idxs[smallest])) smallest = left;
        if (right < K && worse(s_heap_vals[right], s_heap_idxs[right],
                               s_heap_vals[smallest], s_heap_idxs[smallest])) smallest = right;
        if (smallest == root) break;

        const float v = s_heap_vals[root];
        s_heap_vals[root] = s_heap_vals[smallest];
        s_heap_vals[smallest] = v;
        const int i = s_heap_idxs[root];
        s_heap_idxs[root] = s_heap_idxs[smallest];
        s_heap_idxs[smallest] = i;
        root = smallest;
    }
}

/* ------------------------------------------------------------------------ */
/* Kernel                                                                   */
/* ------------------------------------------------------------------------ */

template <int K>
__global__ void __launch_bounds__(BLOCK_SIZE)
fused_softmax_topk_kernel(const float* __restrict__ logits,
                          int* __restrict__ out_indices,
                          float* __restrict__ out_probs,
                          int V)
{
    /* staging buffer of the warp whose turn it is */
    extern __shared__ char s_staging[];
    float* s_stage_vals = reinterpret_cast<float*>(s_staging);
    int*   s_stage_idxs = reinterpret_cast<int*>(s_staging + STAGE_SIZE * sizeof(float));

    __shared__ float s_heap_vals[K];
    __shared__ int   s_heap_idxs[K];
    __shared__ float s_reduce[NUM_WARPS];
    __shared__ float s_max;
    __shared__ float s_sum;

    const int tid = threadIdx.x;
    const int lane = tid % WARP_SIZE;
    const int warp = tid / WARP_SIZE;
    const size_t row = blockIdx.x;
    const float* x = logits + row * static_cast<size_t>(V);

    /* ---- Phase 1: maximum -------------------------------------------- */
    float local_max = -FLT_MAX;
    for (int i = tid; i < V; i += BLOCK_SIZE)
        local_max = fmaxf(local_max, x[i]);
    local_max = warp_max(local_max);
    if (lane == 0) s_reduce[warp] = local_max;
    __syncthreads();
    if (warp == 0) {
        float v = lane < NUM_WARPS ? s_reduce[lane] : -FLT_MAX;
        v = warp_max(v);
        if (lane == 0) s_max = v;
    }
    __syncthreads();
    const float row_max = s_max;

    /* ---- Phase 2: sum of exponentials --------------------------------- */
    float local_sum = 0.0f;
    for (int i = tid; i < V; i += BLOCK_SIZE)
        local_sum += expf(x[i] - row_max);
    local_sum = warp_sum(local_sum);
    if (lane == 0) s_reduce[warp] = local_sum;
    __syncthreads();
    if (warp == 0) {
        float v = lane < NUM_WARPS ? s_reduce[lane] : 0.0f;
        v = warp_sum(v);
        if (lane == 0) s_sum = v;
    }
    __syncthreads();
    const float row_sum = s_sum;

    /* ---- Phase 3: per-thread candidates ------------------------------- */
    /* exp is monotone, so raw logits are ranked; probabilities come last. */
    LocalTopK<K> local;
    local.init();
    for (int i = tid; i < V; i += BLOCK_SIZE)
        local.insert(x[i], i);

    /* ---- Phase 4: merge, one warp after the other ---------------------- */
    for (int i = tid; i < K; i += BLOCK_SIZE) {
        s_heap_vals[i] = -INFINITY;
        s_heap_idxs[i] = INT_MAX;
    }
    __syncthreads();

    for (int w = 0; w < NUM_WARPS; ++w) {
        /* K slots per lane, 16 at a time through the staging buffer */
        for (int base = 0; base < K; base += STAGE_PER_LANE) {
            if (warp == w) {
                for (int i = 0; i < STAGE_PER_LANE; ++i) {
                    const int slot = base + i;
                    const bool filled = slot < local.count;
                    s_stage_vals[lane * STAGE_PER_LANE + i] = filled ? local.vals[slot] : -INFINITY;
                    s_stage_idxs[lane * STAGE_PER_LANE + i] = filled ? local.idxs[slot] : INT_MAX;
                }
            }
            __syncthreads();
            /* the warp leader feeds the heap: O(log K) per accepted entry */
            if (warp == w && lane == 0) {
                for (int i = 0; i < STAGE_SIZE; ++i) {
                    if (worse(s_heap_vals[0], s_heap_idxs[0], s_stage_vals[i], s_stage_idxs[i])) {
                        s_heap_vals[0] = s_stage_vals[i];
                        s_heap_idxs[0] = s_stage_idxs[i];
                        heap_sift_down<K>(s_heap_vals, s_heap_idxs, 0);
                    }
                }
            }
            __syncthreads();
        }
    }

    /* ---- Phase 5: sort the winners, write ------------------------------ */
    if (tid == 0) {
        for (int i = 0; i < K - 1; ++i) {
            int best = i;
            for (int j = i + 1; j < K; ++j) {
                if (worse(s_heap_vals[best], s_heap_idxs[best], s_heap_vals[j], s_heap_idxs[j]))
                    best = j;
            }
            const float v = s_heap_vals[i];
            s_heap_vals[i] = s_heap_vals[best];
            s_heap_vals[best] = v;
            const int idx = s_heap_idxs[i];
            s_heap_idxs[i] = s_heap_idxs[best];
            s_heap_idxs[best] = idx;
        }
    }
    __syncthreads();

    for (int i = tid; i < K; i += BLOCK_SIZE) {
        out_indices[row * K + i] = s_heap_idxs[i];
        out_probs[row * K + i] = expf(s_heap_vals[i] - row_max) / row_sum;
    }
}

/* ------------------------------------------------------------------------ */
/* Explicit instantiations                                                  */
/* ------------------------------------------------------------------------ */

template __global__ void fused_softmax_topk_kernel<16>(const float*, int*, float*, int);
template __global__ void fused_softmax_topk_kernel<32>(const float*, int*, float*, int);
template __global__ void fused_softmax_topk_kernel<64>(const float*, int*, float*, int);
template __global__ void fused_softmax_topk_kernel<128>(const float*, int*, float*, int);
template __global__ void fused_softmax_topk_kernel<256>(const float*, int*, float*, int);

/* ------------------------------------------------------------------------ */
/* Launcher                                                                 */
/* ------------------------------------------------------------------------ */

template <int K>
static cudaError_t launch(const float* logits, int* indices, float* probs,
                          int rows, int V, cudaStream_t stream)
{
    const size_t staging = STAGE_SIZE * (sizeof(float) + sizeof(int));
    fused_softmax_topk_kernel<K><<<rows, BLOCK_SIZE, staging, stream>>>(logits, indices, probs, V);
    return cudaGetLastError();
}

cudaError_t fused_softmax_topk(const float* logits, int* indices, float* probs,
                               int B, int T, int V, int K, cudaStream_t stream)
{
    if (B <= 0 || T <= 0 || K <= 0 || K > V) return cudaErrorInvalidValue;
    const int rows = B * T;
    switch (K) {
        case 16:  return launch<16>(logits, indices, probs, rows, V, stream);
        case 32:  return launch<32>(logits, indices, probs, rows, V, stream);
        case 64:  return launch<64>(logits, indices, probs, rows, V, stream);
        case 128: return launch<128>(logits, indices, probs, rows, V, stream);
        case 256: return launch<256>(logits, indices, probs, rows, V, stream);
        default:  return cudaErrorInvalidValue;
    }
}
