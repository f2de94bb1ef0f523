// bug: the arrays hold 64 entries, the launcher takes any K: beyond 64 the merge writes past them
// caught by: k_range

#include <cuda_runtime.h>

constexpr int CAPACITY = 64;
constexpr int THREADS = 256;

// A sorted array of 64 in shared memory; one thread inserts, what is offered is filtered by all.
__global__ void fused_kernel(const float* __restrict__ logits, int* __restrict__ indices, float* __restrict__ probs,
                             int V, int K) {
    __shared__ float sorted[CAPACITY];
    __shared__ int tokens[CAPACITY];
    __shared__ float queue[THREADS];
    __shared__ int queue_token[THREADS];
    __shared__ int queued;
    __shared__ float max_of[THREADS / 32];
    __shared__ float sum_of[THREADS / 32];
    const int t = threadIdx.x;
    const float* x = logits + static_cast<size_t>(blockIdx.x) * V;
    if (t == 0)
        for (int k = 0; k < K; ++k) {
            sorted[k] = -INFINITY;
            tokens[k] = -1;
        }
    float m = -3.0e38f, d = 0.0f;
    for (int base = 0; base < V; base += THREADS) {
        if (t == 0) queued = 0;
        __syncthreads();
        const int v = base + t;
        if (v < V) {
            const float y = x[v];
            if (y > m) {
                d *= expf(m - y);
                m = y;
            }
            d += expf(y - m);
            if (y > sorted[K - 1] || tokens[K - 1] < 0) {
                const int slot = atomicAdd(&queued, 1);
                queue[slot] = y;
                queue_token[slot] = v;
            }
        }
        __syncthreads();
        if (t == 0)
            for (int q = 0; q < queued; ++q) {
                int at = K - 1;
                if (tokens[at] >= 0 && sorted[at] >= queue[q]) continue;
                for (; at > 0 && (tokens[at - 1] < 0 || sorted[at - 1] < queue[q]); --at) {
                    sorted[at] = sorted[at - 1];
                    tokens[at] = tokens[at - 1];
                }
                sorted[at] = queue[q];
                tokens[at] = queue_token[q];
            }
        __syncthreads();
    }
    float top = m;
    for (int o = 16; o > 0; o >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
    d *= expf(m - top);
    for (int o = 16; o > 0; o >>= 1) d += __shfl_xor_sync(0xffffffffu, d, o);
    if (t % 32 == 0) {
        max_of[t / 32] = top;
        sum_of[t / 32] = d;
    }
    __syncthreads();
    for (int w = 0; w < THREADS / 32; ++w) top = fmaxf(top, max_of[w]);
    float total = 0.0f;
    for (int w = 0; w < THREADS / 32; ++w) total += sum_of[w] * expf(max_of[w] - top);
    for (int k = t; k < K; k += THREADS) {
        indices[static_cast<size_t>(blockIdx.x) * K + k] = tokens[k];
        probs[static_cast<size_t>(blockIdx.x) * K + k] = expf(sorted[k] - top) / total;
    }
}

cudaError_t launch_fused(const float* logits, int* indices, float* probs, int B, int T, int V, int K,
                         cudaStream_t stream = 0) {
    if (K <= 0 || K > V) return cudaErrorInvalidValue;
    fused_kernel<<<B * T, THREADS, 0, stream>>>(logits, indices, probs, V, K);
    return cudaGetLastError();
}
