// bug: C++20 that nobody asks for: nvcc takes C++17 where nothing is said
// caught by: compiles

#include <concepts>
#include <cuda_runtime.h>

struct Entry {
    float value;
    int at;
};

struct Softmax {
    float top;
    float mass;
};

template <class F>
concept Ordering = requires(F f, Entry a, Entry b) {
    { f(a, b) } -> std::convertible_to<bool>;
};

__device__ inline bool before(Entry a, Entry b) { return a.value != b.value ? a.value > b.value : a.at < b.at; }

__device__ inline Entry better(Entry a, Entry b, Ordering auto order) { return order(a, b) ? a : b; }

__device__ inline Softmax joined(Softmax a, Softmax b) {
    const float top = fmaxf(a.top, b.top);
    if (top == -INFINITY) return {.top = top, .mass = 0.0f};
    return {.top = top, .mass = a.mass * expf(a.top - top) + b.mass * expf(b.top - top)};
}

template <std::integral Index>
__global__ void topk_by_rounds(const float* __restrict__ logits, Index* __restrict__ indices,
                               float* __restrict__ probs, int vocab, int k) {
    constexpr int threads = 128;
    __shared__ Entry entries[threads];
    __shared__ Softmax sums[threads];
    const float* x = logits + static_cast<long long>(blockIdx.x) * vocab;
    const int t = threadIdx.x;

    Softmax own{.top = -INFINITY, .mass = 0.0f};
    for (int j = t; j < vocab; j += threads) own = joined(own, {.top = x[j], .mass = x[j] == -INFINITY ? 0.0f : 1.0f});
    sums[t] = own;
    __syncthreads();
    for (int half = threads / 2; half; half /= 2) {
        if (t < half) sums[t] = joined(sums[t], sums[t + half]);
        __syncthreads();
    }

    Entry last{.value = INFINITY, .at = -1};
    for (int rank = 0; rank < k; ++rank) {
        Entry mine{.value = -INFINITY, .at = vocab};
        for (int j = t; j < vocab; j += threads) {
            const Entry here{.value = x[j], .at = j};
            if (before(last, here)) mine = better(here, mine, before);
        }
        entries[t] = mine;
        __syncthreads();
        for (int half = threads / 2; half; half /= 2) {
            if (t < half) entries[t] = better(entries[t], entries[t + half], before);
            __syncthreads();
        }
        last = entries[0];
        __syncthreads();
        if (t == 0) {
            indices[static_cast<long long>(blockIdx.x) * k + rank] = last.at;
            probs[static_cast<long long>(blockIdx.x) * k + rank] = expf(last.value - sums[0].top) / sums[0].mass;
        }
    }
}

cudaError_t fused_softmax_topk(const float* logits, int* indices, float* probs, int batch, int vocab, int k) {
    if (k < 1 || k > vocab) return cudaErrorInvalidValue;
    topk_by_rounds<int><<<batch, 128>>>(logits, indices, probs, vocab, k);
    return cudaGetLastError();
}
