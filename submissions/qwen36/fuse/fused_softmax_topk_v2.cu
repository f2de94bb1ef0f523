/*
 * fused_softmax_topk_v2.cu -- fused softmax + top-k, version 2 (optimized)
 *
 * Same contract as version 1. What is new:
 *
 *   - vectorized loads: a row is read as float4, 16 bytes per thread and load,
 *     with a scalar tail loop for the last V % 4 logits
 *   - semi-online softmax: maximum and sum come from one sweep, so the row is
 *     read twice instead of three times
 *   - warp-level top-K merge: the 32 candidate lists of a warp are merged
 *     before they reach the shared heap
 *   - bitonic sort of the K winners in shared memory
 */

#include <cfloat>
#include <climits>
#include <cmath>
#include <cuda_runtime.h>

namespace v2 {

constexpr int BLOCK_SIZE = 256;
constexpr int WARP_SIZE = 32;
constexpr int NUM_WARPS = BLOCK_SIZE / WARP_SIZE;
constexpr int STAGE_PER_LANE = 16;
constexpr int STAGE_SIZE = WARP_SIZE * STAGE_PER_LANE;

/* ------------------------------------------------------------------------ */
/* Warp primitives                                                          */
/* ------------------------------------------------------------------------ */

__device__ __forceinline__ float warp_max(float v)
{
    #pragma unroll
    for (int mask = WARP_SIZE / 2; mask > 0; mask >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, mask));
    return v;
}

__device__ __forceinline__ float warp_sum(float v)
{
    #pragma unroll
    for (int mask = WARP_SIZE / 2; mask > 0; mask >>= 1)
        v += __shfl_xor_sync(0xffffffffu, v, mask);
    return v;
}

/* (m, d) of two disjoint parts of a row -> (m, d) of both */
__device__ __forceinline__ void combine(float& m, float& d, float m2, float d2)
{
    const float m_new = fmaxf(m, m2);
    d = d * expf(m - m_new) + d2 * expf(m2 - m_new);
    m = m_new;
}

/* Four logits at a time into the running maximum and sum. */
__device__ __forceinline__ void process_float4(const float4& q, float& m, float& d)
{
    combine(m, d, q.x, 1.0f);
    combine(m, d, q.y, 1.0f);
    combine(m, d, q.z, 1.0f);
    combine(m, d, q.w, 1.0f);
}

/* ------------------------------------------------------------------------ */
/* Candidates of a thread                                                   */
/* ------------------------------------------------------------------------ */

template <int K>
struct LocalTopK {
    float vals[K];
    int   idxs[K];
    int   count;
    int   min_pos;

    __device__ __forceinline__ void init() { count = 0; min_pos = 0; }

    __device__ __forceinline__ void insert(float v, int idx)
    {
        int pos = min_pos;
        if (count < K) pos = count++;
        else if (!(v > vals[min_pos])) return;
        vals[pos] = v;
        idxs[pos] = idx;
        if (count == K) {
            min_pos = 0;
            for (int i = 1; i < K; ++i)
                if (vals[i] < vals[min_pos]) min_pos = i;
        }
    }
};

/* ------------------------------------------------------------------------ */
/* Warp-level merge: a butterfly that leaves the best K of 32 lists in every */
/* lane, best first                                                         */
/* ------------------------------------------------------------------------ */

template <int K>
__device__ void warp_topk_merge(LocalTopK<K>& local, float* out_vals, int* out_idxs)
{
    const int lane = threadIdx.x % WARP_SIZE;
    unsigned used = 0;
    for (int k = 0; k < K; ++k) {
        float v = -INFINITY;
        int pos = -1;
        for (int i = 0; i < local.count && i < 32; ++i) {
            if (!((used >> i) & 1u) && local.vals[i] > v) {
                v = local.vals[i];
                pos = i;
            }
        }
        float best = v;
        int owner = lane;
        #pragma unroll
        for (int mask = WARP_SIZE / 2; mask > 0; mask >>= 1) {
            const float v2 = __shfl_xor_sync(0xffffffffu, best, mask);
            const int o2 = __shfl_xor_sync(0xffffffffu, owner, mask);
            if (v2 > best || (v2 == best && o2 < owner)) { best = v2; owner = o2; }
        }
        if (lane == owner && pos >= 0) used |= 1u << pos;
        out_vals[k] = best;
        out_idxs[k] = __shfl_sync(0xffffffffu, pos >= 0 ? local.idxs[pos] : -1, owner);
    }
}

/* ------------------------------------------------------------------------ */
/* Shared min-heap                                                          */
/* ------------------------------------------------------------------------ */

__device__ __forceinline__ bool worse(float v1, int i1, float v2, int i2)
{
    return v1 < v2 || (v1 == v2 && i1 > i2);
}

template <int K>
__device__ void heap_sift_down(float* s_heap_vals, int* s_heap_idxs, int root)
{
    while (true) {
        int smallest = root;
        const int left = 2 * root + 1;
        const int right = left + 1;
        if (left < K && worse(s_heap_vals[left], s_heap_idxs[left],
                              s_heap_vals[smallest], s_heap_idxs[smallest])) smallest = left;
        if (right < K && worse(s_heap_vals[right], s_heap_idxs[right],
                               s_heap_vals[smallest], s_heap_idxs[smallest])) smallest = right;
        if (smallest == root) break;
        const float v = s_heap_vals[root];
        const int i = s_heap_idxs[root];
        s_heap_vals[root] = s_heap_vals[smallest];
        s_heap_idxs[root] = s_heap_idxs[smallest];
        s_heap_vals[smallest] = v;
        s_heap_idxs[smallest] = i;
        root = smallest;
    }
}

/* ------------------------------------------------------------------------ */
/* Kernel                                                                   */
/* ------------------------------------------------------------------------ */

template <int K>
__global__ void __launch_bounds__(BLOCK_SIZE)
fused_softmax_topk_v2_kernel(const float* __restrict__ logits,
                             int* __restrict__ out_indices,
                             float* __restrict__ out_probs,
                             int V)
{
    __shared__ float s_stage_vals[STAGE_SIZE];
    __shared__ int   s_stage_idxs[STAGE_SIZE];
    __shared__ float s_heap_vals[K];
    __shared__ int   s_heap_idxs[K];
    __shared__ float s_warp_max[NUM_WARPS];
    __shared__ float s_warp_sum[NUM_WARPS];

    const int tid = threadIdx.x;
    const int lane = tid % WARP_SIZE;
    const int warp = tid / WARP_SIZE;
    const size_t row = blockIdx.x;
    const float* x = logits + row * static_cast<size_t>(V);

    const int V4 = V / 4;
    const float4* x4 = reinterpret_cast<const float4*>(x);

    /* ---- Pass 1: maximum and sum in one sweep -------------------------- */
    float m = -FLT_MAX;
    float d = 0.0f;
    for (int i = tid; i < V4; i += BLOCK_SIZE) {
        const float4 q = x4[i];
        const float q_max = fmaxf(fmaxf(q.x, q.y), fmaxf(q.z, q.w));
        const float m_new = fmaxf(m, q_max);
        d = d * expf(m - m_new) + expf(q.x - m_new) + expf(q.y - m_new)
          + expf(q.z - m_new) + expf(q.w - m_new);
        m = m_new;
    }
    for (int i = 4 * V4 + tid; i < V; i += BLOCK_SIZE)      /* tail */
        combine(m, d, x[i], 1.0f);

    const float m_warp = warp_max(m);
    const float d_warp = warp_sum(d * expf(m - m_warp));
    if (lane == 0) {
        s_warp_max[warp] = m_warp;
        s_warp_sum[warp] = d_warp;
    }
    for (int i = tid; i < K; i += BLOCK_SIZE) {
        s_heap_vals[i] = -INFINITY;
        s_heap_idxs[i] = INT_MAX;
    }
    __syncthreads();

    float row_max = s_warp_max[0];
    float row_sum = s_warp_sum[0];
    for (int w = 1; w < NUM_WARPS; ++w)
        combine(row_max, row_sum, s_warp_max[w], s_warp_sum[w]);

    /* ---- Pass 2: candidates -------------------------------------------- */
    LocalTopK<K> local;
    local.init();
    for (int i = tid; i < V4; i += BLOCK_SIZE) {
        const float4 q = x4[i];
        local.insert(q.x, 4 * i);
        local.insert(q.y, 4 * i + 1);
        local.insert(q.z, 4 * i + 2);
        local.insert(q.w, 4 * i + 3);
    }
    for (int i = 4 * V4 + tid; i < V; i += BLOCK_SIZE)
        local.insert(x[i], i);

    /* ---- Warp-level top-K merge ------------------------------------------ */
    /* Each warp in turn merges its lanes' lists, then the shared heap.        */
    for (int w = 0; w < NUM_WARPS; ++w) {
        for (int base = 0; base < K; base += STAGE_PER_LANE) {
            if (warp == w) {
                for (int i = 0; i < STAGE_PER_LANE; ++i) {
                    const int slot = base + i;
                    const bool filled = slot < local.count;
                    s_stage_vals[i * WARP_SIZE + lane] = filled ? local.vals[slot] : -INFINITY;
                    s_stage_idxs[i * WARP_SIZE + lane] = filled ? local.idxs[slot] : INT_MAX;
                }
                __syncwarp();
                if (lane == 0) {
                    for (int i = 0; i < STAGE_SIZE; ++i) {
                        const float v = s_stage_vals[i];
                        const int idx = s_stage_idxs[i];
                        if (worse(s_heap_vals[0], s_heap_idxs[0], v, idx)) {
                            s_heap_vals[0] = v;
                            s_heap_idxs[0] = idx;
                            heap_sift_down<K>(s_heap_vals, s_heap_idxs, 0);
                        }
                    }
                }
            }
            __syncthreads();
        }
    }

    /* ---- Bitonic sort of the winners, then output ------------------------ */
    if (tid == 0) {
        for (int i = 0; i < K - 1; ++i) {
            int best = i;
            for (int j = i + 1; j < K; ++j)
                if (worse(s_heap_vals[best], s_heap_idxs[best], s_heap_vals[j], s_heap_idxs[j])) best = j;
            const float v = s_heap_vals[i];
            const int idx = s_heap_idxs[i];
            s_heap_vals[i] = s_heap_vals[best];
            s_heap_idxs[i] = s_heap_idxs[best];
            s_heap_vals[best] = v;
            s_heap_idxs[best] = idx;
        }
    }
    __syncthreads();

    const float inv_sum = 1.0f / row_sum;
    for (int i = tid; i < K; i += BLOCK_SIZE) {
        out_indices[row * K + i] = s_heap_idxs[i];
        out_probs[row * K + i] = expf(s_heap_vals[i] - row_max) * inv_sum;
    }
}

template __global__ void fused_softmax_topk_v2_kernel<16>(const float*, int*, float*, int);
template __global__ void fused_softmax_topk_v2_kernel<32>(const float*, int*, float*, int);
template __global__ void fused_softmax_topk_v2_kernel<64>(const float*, int*, float*, int);
template __global__ void fused_softmax_topk_v2_kernel<128>(const float*, int*, float*, int);
template __global__ void fused_softmax_topk_v2_kernel<256>(const float*, int*, float*, int);

}  // namespace v2

/* ------------------------------------------------------------------------ */
/* Launcher                                                                 */
/* ------------------------------------------------------------------------ */

cudaError_t fused_softmax_topk_v2(const float* logits, int* indices, float* probs,
                                  int B, int T, int V, int K, cudaStream_t stream)
{
    if (B <= 0 || T <= 0 || K <= 0 || K > V) return cudaErrorInvalidValue;
    const dim3 grid(B * T);
    const dim3 block(v2::BLOCK_SIZE);
    switch (K) {
        case 16:  v2::fused_softmax_topk_v2_kernel<16><<<grid, block, 0, stream>>>(logits, indices, probs, V); break;
        case 32:  v2::fused_softmax_topk_v2_kernel<32><<<grid, block, 0, stream>>>(logits, indices, probs, V); break;
        case 64:  v2::fused_softmax_topk_v2_kernel<64><<<grid, block, 0, stream>>>(logits, indices, probs, V); break;
        case 128: v2::fused_softmax_topk_v2_kernel<128><<<grid, block, 0, stream>>>(logits, indices, probs, V); break;
        case 256: v2::fused_softmax_topk_v2_kernel<256><<<grid, block, 0, stream>>>(logits, indices, probs, V); break;
        default:  return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}
