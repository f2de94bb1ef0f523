// bug: a barrier stands in a branch that only the threads below K take, so that the others wait at another one
// caught by: memory_safety

#include <cuda_runtime.h>

#define NT 128

static __device__ float block_max(float x, float* scratch) {
    scratch[threadIdx.x] = x;
    __syncthreads();
    for (int step = NT / 2; step; step /= 2) {
        if (threadIdx.x < step) scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + step]);
        __syncthreads();
    }
    x = scratch[0];
    __syncthreads();
    return x;
}

static __device__ float block_sum(float x, float* scratch) {
    scratch[threadIdx.x] = x;
    __syncthreads();
    for (int step = NT / 2; step; step /= 2) {
        if (threadIdx.x < step) scratch[threadIdx.x] += scratch[threadIdx.x + step];
        __syncthreads();
    }
    x = scratch[0];
    __syncthreads();
    return x;
}

__global__ void select_kernel(const float* logits, int* indices, float* probs, int V, int K) {
    __shared__ float scratch[NT];
    __shared__ int owner[NT];
    __shared__ float kept[NT];
    const float* x = logits + (long long)blockIdx.x * V;
    float m = -3.402823466e+38f;
    for (int i = threadIdx.x; i < V; i += NT) m = fmaxf(m, x[i]);
    m = block_max(m, scratch);
    float s = 0.f;
    for (int i = threadIdx.x; i < V; i += NT) s += expf(x[i] - m);
    s = block_sum(s, scratch);

    float bound = m;
    int after = -1;
    for (int k = 0; k < K; ++k) {
        float best = -INFINITY;
        int at = V;
        for (int i = threadIdx.x; i < V; i += NT)
            if ((x[i] < bound || (x[i] == bound && i > after)) && (x[i] > best || (x[i] == best && i < at))) {
                best = x[i];
                at = i;
            }
        const float winner = block_max(best, scratch);
        owner[threadIdx.x] = best == winner ? at : V;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int t = 1; t < NT; ++t) owner[0] = min(owner[0], owner[t]);
        __syncthreads();
        bound = winner;
        after = owner[0];
        if (threadIdx.x == k) {
            kept[k] = winner;
            indices[(long long)blockIdx.x * K + k] = after;
        }
        __syncthreads();
    }
    if (threadIdx.x < K) {
        kept[threadIdx.x] = expf(kept[threadIdx.x] - m);
        __syncthreads();
        probs[(long long)blockIdx.x * K + threadIdx.x] = kept[threadIdx.x] / s;
    }
    block_sum(0.f, scratch);  // leaves scratch clean for the next user
}

cudaError_t softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    if (K < 1 || K > NT || K > V) return cudaErrorInvalidValue;
    select_kernel<<<rows, NT>>>(logits, indices, probs, V, K);
    return cudaGetLastError();
}
