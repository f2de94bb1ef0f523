// bug: what is taken off is the entry that was found first, which need not be the largest
// caught by: numerics
// only: numerics, memory_safety

#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 256;
constexpr int kMost = 1024;

// Unsigned keys in the order of the floats; -0 and +0 get one key.
__device__ __forceinline__ uint32_t key_of(float x) {
    const uint32_t bits = __float_as_uint(x + 0.0f);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ __forceinline__ float value_of(uint32_t key) {
    return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

__global__ void __launch_bounds__(kThreads) radix_topk(const float* __restrict__ logits, int32_t* __restrict__ indices,
                                                       float* __restrict__ probabilities, int V, int K) {
    extern __shared__ uint32_t pool[];
    uint32_t* histogram = pool;                                    // 256
    uint32_t* found_key = histogram + 256;                         // K
    int32_t* found_at = reinterpret_cast<int32_t*>(found_key + K);  // K
    __shared__ uint32_t prefix, remaining, taken, ties;
    __shared__ float partial[kThreads];

    const int t = threadIdx.x;
    const float* row = logits + static_cast<int64_t>(blockIdx.x) * V;

    if (t == 0) {
        prefix = 0;
        remaining = K;
        taken = 0;
        ties = 0;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
        histogram[t] = 0;
        __syncthreads();
        const uint32_t mask = shift == 24 ? 0u : 0xffffffffu << (shift + 8);
        for (int i = t; i < V; i += kThreads) {
            const uint32_t key = key_of(row[i]);
            if ((key & mask) == prefix) atomicAdd(&histogram[(key >> shift) & 255u], 1u);
        }
        __syncthreads();
        if (t == 0) {
            uint32_t digit = 255;
            while (histogram[digit] < remaining) remaining -= histogram[digit--];
            prefix |= digit << shift;
        }
        __syncthreads();
    }

    // Keys above the K-th go in; of those equal to it, the `remaining` with the smallest index.
    const uint32_t bar = prefix;
    for (int i = t; i < V; i += kThreads) {
        const uint32_t key = key_of(row[i]);
        if (key > bar) {
            const uint32_t slot = atomicAdd(&taken, 1u);
            found_key[slot] = key;
            found_at[slot] = i;
        }
    }
    __syncthreads();
    const uint32_t above = taken;
    for (int base = 0; base < V; base += kThreads) {
        const int i = base + t;
        const bool tie = i < V && key_of(row[i]) == bar;
        const uint32_t before = ties;
        const int here = __syncthreads_count(tie);
        if (tie) {
            // rank among the ties of this tile, so that the first ones win
            uint32_t rank = before;
            for (int j = base; j < i; ++j) rank += key_of(row[j]) == bar;
            if (rank < remaining) {
                found_key[above + rank] = bar;
                found_at[above + rank] = i;
            }
        }
        __syncthreads();
        if (t == 0) ties = before + here;
        __syncthreads();
        if (ties >= remaining) break;
    }

    float top = -INFINITY;
    top = value_of(found_key[0]);
    float sum = 0.0f;
    for (int i = t; i < V; i += kThreads) sum += expf(row[i] - top);
    partial[t] = sum;
    __syncthreads();
    for (int stride = kThreads / 2; stride; stride >>= 1) {
        if (t < stride) partial[t] += partial[t + stride];
        __syncthreads();
    }

    for (int i = t; i < K; i += kThreads) {
        int rank = 0;
        for (int j = 0; j < K; ++j)
            rank += found_key[j] > found_key[i] || (found_key[j] == found_key[i] && found_at[j] < found_at[i]);
        const int64_t at = static_cast<int64_t>(blockIdx.x) * K + rank;
        indices[at] = found_at[i];
        probabilities[at] = expf(value_of(found_key[i]) - top) / partial[0];
    }
}

cudaError_t fused_topk(const float* logits, int32_t* topk_indices, float* topk_probs, int B, int T, int V, int K,
                       cudaStream_t stream = nullptr) {
    if (B < 1 || T < 1 || K < 1 || K > V || K > kMost) return cudaErrorInvalidValue;
    const size_t bytes = (256 + 2 * static_cast<size_t>(K)) * sizeof(uint32_t);
    radix_topk<<<B * T, kThreads, bytes, stream>>>(logits, topk_indices, topk_probs, V, K);
    return cudaGetLastError();
}
