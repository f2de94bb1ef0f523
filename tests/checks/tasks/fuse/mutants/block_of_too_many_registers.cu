// bug: blocks of 1024 threads, each with a sorted list of 32 pairs in registers: no multiprocessor has that many, the launch fails
// caught by: resources
// passes: compiles, topk_correct

#include <cuda_runtime.h>
#include <math_constants.h>

constexpr int kThreads = 1024;
constexpr int kDepth = 32;

struct Sorted {
    float value[kDepth];
    int place[kDepth];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            value[i] = -CUDART_INF_F;
            place[i] = 0x7fffffff;
        }
    }

    // a pass of compare-and-swap with constant subscripts keeps everything in registers
    __device__ __forceinline__ void offer(float v, int p) {
#pragma unroll
        for (int i = 0; i < kDepth; ++i) {
            const bool better = v > value[i] || (v == value[i] && p < place[i]);
            const float old_value = value[i];
            const int old_place = place[i];
            value[i] = better ? v : old_value;
            place[i] = better ? p : old_place;
            v = better ? old_value : v;
            p = better ? old_place : p;
        }
    }

    __device__ __forceinline__ void shift() {
#pragma unroll
        for (int i = 0; i + 1 < kDepth; ++i) {
            value[i] = value[i + 1];
            place[i] = place[i + 1];
        }
        value[kDepth - 1] = -CUDART_INF_F;
        place[kDepth - 1] = 0x7fffffff;
    }
};

__global__ void register_lists(const float* __restrict__ logits, int* __restrict__ indices, float* __restrict__ probs,
                               int V, int K) {
    __shared__ float best[kThreads];
    __shared__ int best_at[kThreads];
    const int t = threadIdx.x;
    const float* x = logits + static_cast<size_t>(blockIdx.x) * V;

    Sorted mine;
    mine.clear();
    float top = -CUDART_INF_F, mass = 0.0f;
    for (int v = t; v < V; v += kThreads) {
        const float y = x[v];
        mine.offer(y, v);
        if (y > top) {
            mass = mass * expf(top - y) + 1.0f;
            top = y;
        } else if (y > -CUDART_INF_F) {
            mass += expf(y - top);
        }
    }

    // maximum of the block, then the sum relative to it
    best[t] = top;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) best[t] = fmaxf(best[t], best[t + half]);
        __syncthreads();
    }
    const float row_top = best[0];
    __syncthreads();
    best[t] = mass > 0.0f ? mass * expf(top - row_top) : 0.0f;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) best[t] += best[t + half];
        __syncthreads();
    }
    const float row_mass = best[0];
    __syncthreads();

    for (int k = 0; k < K; ++k) {
        best[t] = mine.value[0];
        best_at[t] = mine.place[0];
        __syncthreads();
        for (int half = kThreads / 2; half > 0; half /= 2) {
            if (t < half) {
                const float other = best[t + half];
                const int other_at = best_at[t + half];
                if (other > best[t] || (other == best[t] && other_at < best_at[t])) {
                    best[t] = other;
                    best_at[t] = other_at;
                }
            }
            __syncthreads();
        }
        const int winner = best_at[0];
        if (t == 0) {
            indices[static_cast<size_t>(blockIdx.x) * K + k] = winner;
            probs[static_cast<size_t>(blockIdx.x) * K + k] = expf(best[0] - row_top) / row_mass;
        }
        if (mine.place[0] == winner) mine.shift();
        __syncthreads();
    }
}

cudaError_t softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream) {
    if (K < 1 || K > kDepth || K > V) return cudaErrorInvalidValue;
    register_lists<<<rows, kThreads, 0, stream>>>(logits, indices, probs, V, K);
    return cudaGetLastError();
}
