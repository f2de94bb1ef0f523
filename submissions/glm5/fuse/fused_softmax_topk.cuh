// Fused softmax + top-k for autoregressive sampling.
//
//   logits  [B, T, V] float32   ->   indices [B, T, K] int32, probs [B, T, K] float32
//
// One sweep over the vocabulary computes both the softmax normalizer (online
// recurrence, Milakov & Gimelshein 2018) and the K largest logits. Nothing of
// size V is ever written: the softmax matrix does not exist in global memory.
//
// Design: one warp per row. Lane l reads logits l, l + 32, l + 64, ... so that
// every load instruction of the warp covers one contiguous 128-byte segment.
//
//   Phase 1  local pass        each lane: running (max, sum) and a register heap
//   Phase 2  cross-warp merge  heaps and partial sums meet in shared memory
//   Phase 3  write output      K indices and K probabilities
//
// See DESIGN.md for the derivation and the bandwidth analysis.

#pragma once

#include <cfloat>
#include <cstdint>
#include <cuda_runtime.h>

namespace fused {

constexpr int WARP_SIZE = 32;
constexpr int HEAP_K = 32;                 // capacity of a heap slot in shared memory
constexpr int DEFAULT_WARPS_PER_BLOCK = 8;
constexpr unsigned FULL_MASK = 0xffffffffu;

// ---------------------------------------------------------------------------
// TopKHeap: the K largest (value, index) pairs seen by one lane.
//
// Kept sorted in descending order. All indexing is by unrolled loop counters,
// so that the arrays live in registers and not in local memory.
// ---------------------------------------------------------------------------
template <int K>
struct TopKHeap {
    float vals[K];
    int idxs[K];

    __device__ __forceinline__ void init() {
#pragma unroll
        for (int i = 0; i < K; ++i) {
            vals[i] = -FLT_MAX;
            idxs[i] = -1;
        }
    }

    __device__ __forceinline__ float min_value() const { return vals[K - 1]; }

    // O(K) insertion: a single pass of compare-and-swap that carries the new
    // pair down to its place and drops the last one.
    __device__ __forceinline__ void insert(float value, int index) {
        if (value <= vals[K - 1] && idxs[K - 1] >= 0) return;
#pragma unroll
        for (int i = 0; i < K; ++i) {
            const bool before = idxs[i] < 0 || value > vals[i];
            const float held_value = vals[i];
            const int held_index = idxs[i];
            vals[i] = before ? value : held_value;
            idxs[i] = before ? index : held_index;
            value = before ? held_value : value;
            index = before ? held_index : index;
        }
    }

    // Remove the largest entry.
    __device__ __forceinline__ void pop() {
#pragma unroll
        for (int i = 0; i + 1 < K; ++i) {
            vals[i] = vals[i + 1];
            idxs[i] = idxs[i + 1];
        }
        vals[K - 1] = -FLT_MAX;
        idxs[K - 1] = -1;
    }
};

// ---------------------------------------------------------------------------
// Online softmax state
//
//   m_j = max(m_{j-1}, x_j)
//   d_j = d_{j-1} * exp(m_{j-1} - m_j) + exp(x_j - m_j)
// ---------------------------------------------------------------------------
struct SoftmaxState {
    float m;
    float d;

    __device__ __forceinline__ void init() {
        m = -FLT_MAX;
        d = 0.0f;
    }

    __device__ __forceinline__ void update(float x) {
        const float m_new = fmaxf(m, x);
        d = d * __expf(m - m_new) + __expf(x - m_new);
        m = m_new;
    }

    // Two partial states over disjoint parts combine exactly.
    __device__ __forceinline__ void merge(float other_m, float other_d) {
        const float m_new = fmaxf(m, other_m);
        d = d * __expf(m - m_new) + other_d * __expf(other_m - m_new);
        m = m_new;
    }
};

// Five-step butterfly: afterwards every lane holds the state of the whole warp.
__device__ __forceinline__ void warp_reduce(SoftmaxState& state) {
#pragma unroll
    for (int offset = WARP_SIZE / 2; offset > 0; offset >>= 1) {
        const float other_m = __shfl_xor_sync(FULL_MASK, state.m, offset);
        const float other_d = __shfl_xor_sync(FULL_MASK, state.d, offset);
        state.merge(other_m, other_d);
    }
}

// Largest head over the 32 lanes. Ties go to the smaller index; an empty heap
// (index -1) never wins against a filled one.
__device__ __forceinline__ void warp_argmax(float& value, int& index, int& lane) {
#pragma unroll
    for (int offset = WARP_SIZE / 2; offset > 0; offset >>= 1) {
        const float other_value = __shfl_xor_sync(FULL_MASK, value, offset);
        const int other_index = __shfl_xor_sync(FULL_MASK, index, offset);
        const int other_lane = __shfl_xor_sync(FULL_MASK, lane, offset);
        bool take;
        if (other_index < 0) {
            take = false;
        } else if (index < 0) {
            take = true;
        } else {
            take = other_value > value || (other_value == value && other_index < index);
        }
        if (take) {
            value = other_value;
            index = other_index;
            lane = other_lane;
        }
    }
}

// ---------------------------------------------------------------------------
// Kernel
//
// Template parameters
//   K                entries per row, at most HEAP_K
//   WARPS_PER_BLOCK  rows that a block works on
// Grid: ceil(num_rows / WARPS_PER_BLOCK) blocks of WARPS_PER_BLOCK * 32 threads.
// ---------------------------------------------------------------------------
template <int K, int WARPS_PER_BLOCK = DEFAULT_WARPS_PER_BLOCK>
__global__ void fused_softmax_topk_kernel(const float* __restrict__ logits,
                                          int* __restrict__ out_indices,
                                          float* __restrict__ out_probs,
                                          int num_rows, int V) {
    static_assert(K >= 1 && K <= HEAP_K, "K is limited by the register heap");

    __shared__ float s_vals[WARPS_PER_BLOCK][HEAP_K];
    __shared__ int s_idxs[WARPS_PER_BLOCK][HEAP_K];
    __shared__ float s_max[WARPS_PER_BLOCK];
    __shared__ float s_sum[WARPS_PER_BLOCK];

    const int lane = threadIdx.x % WARP_SIZE;
    const int warp_id = threadIdx.x / WARP_SIZE;
    const int row = blockIdx.x * WARPS_PER_BLOCK + warp_id;

    // ---- Phase 1: local pass ------------------------------------------------
    TopKHeap<K> heap;
    SoftmaxState state;
    heap.init();
    state.init();

    if (row < num_rows) {
        const float* row_logits = logits + static_cast<int64_t>(row) * V;
        for (int j = lane; j < V; j += WARP_SIZE) {
            const float x = row_logits[j];
            state.update(x);
            heap.insert(x, j);
        }
    }

    warp_reduce(state);

    // The warp's own top K: K times the best head of the 32 lane heaps.
    for (int k = 0; k < K; ++k) {
        float value = heap.vals[0];
        int index = heap.idxs[0];
        int winner = lane;
        warp_argmax(value, index, winner);
        if (lane == winner) heap.pop();
        if (lane == 0) {
            s_vals[warp_id][k] = value;
            s_idxs[warp_id][k] = index;
        }
    }
    if (lane == 0) {
        s_max[warp_id] = state.m;
        s_sum[warp_id] = state.d;
    }
    __syncthreads();

    // ---- Phase 2: cross-warp merge ------------------------------------------
    // Warp 0 folds the heaps of all warps into one, serially.
    if (warp_id == 0) {
        if (lane == 0) {
            TopKHeap<K> merged;
            SoftmaxState total;
            merged.init();
            total.init();
            for (int w = 0; w < WARPS_PER_BLOCK; ++w) {
                total.merge(s_max[w], s_sum[w]);
                for (int k = 0; k < K; ++k) {
                    if (s_idxs[w][k] < 0) break;
                    merged.insert(s_vals[w][k], s_idxs[w][k]);
                }
            }
#pragma unroll
            for (int k = 0; k < K; ++k) {
                s_vals[0][k] = merged.vals[k];
                s_idxs[0][k] = merged.idxs[k];
            }
            s_max[0] = total.m;
            s_sum[0] = total.d;
        }
        __syncwarp();

        // ---- Phase 3: write output ------------------------------------------
        if (row < num_rows && lane < K) {
            const int64_t out = static_cast<int64_t>(row) * K + lane;
            out_indices[out] = s_idxs[0][lane];
            out_probs[out] = expf(s_vals[0][lane] - s_max[0]) / s_sum[0];
        }
    }
}

// ---------------------------------------------------------------------------
// Host side
// ---------------------------------------------------------------------------
template <int K, int WARPS_PER_BLOCK = DEFAULT_WARPS_PER_BLOCK>
inline cudaError_t launch_fused_softmax_topk(const float* logits, int* indices, float* probs,
                                             int num_rows, int V, cudaStream_t stream = 0) {
    if (num_rows <= 0 || V < K) return cudaErrorInvalidValue;
    const int blocks = (num_rows + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK;
    const int threads = WARPS_PER_BLOCK * WARP_SIZE;
    fused_softmax_topk_kernel<K, WARPS_PER_BLOCK>
        <<<blocks, threads, 0, stream>>>(logits, indices, probs, num_rows, V);
    return cudaGetLastError();
}

// Runtime K. Only the instantiated values are accepted.
inline cudaError_t fused_softmax_topk(const float* logits, int* indices, float* probs,
                                      int B, int T, int V, int K, cudaStream_t stream = 0) {
    const int num_rows = B * T;
    switch (K) {
        case 5: return launch_fused_softmax_topk<5>(logits, indices, probs, num_rows, V, stream);
        case 10: return launch_fused_softmax_topk<10>(logits, indices, probs, num_rows, V, stream);
        case 20: return launch_fused_softmax_topk<20>(logits, indices, probs, num_rows, V, stream);
        case 32: return launch_fused_softmax_topk<32>(logits, indices, probs, num_rows, V, stream);
        default: return cudaErrorInvalidValue;
    }
}

// Explicit instantiations.
template __global__ void fused_softmax_topk_kernel<5>(const float*, int*, float*, int, int);
template __global__ void fused_softmax_topk_kernel<10>(const float*, int*, float*, int, int);
template __global__ void fused_softmax_topk_kernel<20>(const float*, int*, float*, int, int);
template __global__ void fused_softmax_topk_kernel<32>(const float*, int*, float*, int, int);

}  // namespace fused
