// bug: the whole softmax is written to a buffer of rows * V floats, and a second kernel takes the top k of it
// caught by: no_materialize

#include <cuda_runtime.h>

static __device__ float reduce_max(float v, float* s) {
    s[threadIdx.x] = v;
    __syncthreads();
    for (unsigned n = blockDim.x / 2; n; n /= 2) {
        if (threadIdx.x < n) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + n]);
        __syncthreads();
    }
    v = s[0];
    __syncthreads();
    return v;
}

static __device__ float reduce_sum(float v, float* s) {
    s[threadIdx.x] = v;
    __syncthreads();
    for (unsigned n = blockDim.x / 2; n; n /= 2) {
        if (threadIdx.x < n) s[threadIdx.x] += s[threadIdx.x + n];
        __syncthreads();
    }
    v = s[0];
    __syncthreads();
    return v;
}

__global__ void softmax_kernel(const float* logits, float* softmax, int V) {
    __shared__ float s[256];
    const float* x = logits + (size_t)blockIdx.x * V;
    float* p = softmax + (size_t)blockIdx.x * V;
    float m = -INFINITY;
    for (int v = threadIdx.x; v < V; v += blockDim.x) m = fmaxf(m, x[v]);
    m = reduce_max(m, s);
    float d = 0.f;
    for (int v = threadIdx.x; v < V; v += blockDim.x) d += expf(x[v] - m);
    d = reduce_sum(d, s);
    for (int v = threadIdx.x; v < V; v += blockDim.x) p[v] = expf(x[v] - m) / d;
}

__global__ void topk_kernel(const float* logits, const float* softmax, int* indices, float* probs, int V, int K) {
    __shared__ float s[256];
    __shared__ int at[256];
    const float* x = logits + (size_t)blockIdx.x * V;
    float bound = INFINITY;
    int bound_at = -1;
    for (int k = 0; k < K; ++k) {
        float best = -INFINITY;
        int best_at = V;
        for (int v = threadIdx.x; v < V; v += blockDim.x) {
            if (x[v] > bound || (x[v] == bound && v <= bound_at)) continue;
            if (best_at == V || x[v] > best) {
                best = x[v];
                best_at = v;
            }
        }
        const float top = reduce_max(best, s);
        at[threadIdx.x] = best == top ? best_at : V;
        __syncthreads();
        for (unsigned n = blockDim.x / 2; n; n /= 2) {
            if (threadIdx.x < n) at[threadIdx.x] = min(at[threadIdx.x], at[threadIdx.x + n]);
            __syncthreads();
        }
        bound = top;
        bound_at = at[0];
        __syncthreads();
        if (threadIdx.x == 0) {
            indices[(size_t)blockIdx.x * K + k] = bound_at;
            probs[(size_t)blockIdx.x * K + k] = softmax[(size_t)blockIdx.x * V + bound_at];
        }
    }
}

cudaError_t fused_softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K,
                               cudaStream_t stream) {
    if (K < 1 || K > V || K > 64) return cudaErrorInvalidValue;
    float* softmax = nullptr;
    const cudaError_t error = cudaMalloc(&softmax, sizeof(float) * (size_t)rows * V);
    if (error != cudaSuccess) return error;
    softmax_kernel<<<rows, 256, 0, stream>>>(logits, softmax, V);
    topk_kernel<<<rows, 256, 0, stream>>>(logits, softmax, indices, probs, V, K);
    cudaStreamSynchronize(stream);
    cudaFree(softmax);
    return cudaGetLastError();
}
