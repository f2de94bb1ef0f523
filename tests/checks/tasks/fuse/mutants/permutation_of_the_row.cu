// bug: a permutation of all V indices per row lies in global memory and is partially sorted there
// caught by: no_materialize

#include <cuda_runtime.h>

__global__ void identity(int* order, int V) {
    for (int v = threadIdx.x; v < V; v += blockDim.x) order[(size_t)blockIdx.x * V + v] = v;
}

// K rounds of a selection sort over the permutation: the best of what is left goes to its front.
__global__ void front(const float* logits, int* order, int* indices, float* probs, int V, int K) {
    constexpr int T = 128;
    __shared__ int place[T];
    __shared__ float sum[T];
    int* mine = order + (size_t)blockIdx.x * V;
    const float* x = logits + (size_t)blockIdx.x * V;
    const int t = threadIdx.x;
    for (int k = 0; k < K; ++k) {
        int best = -1;
        for (int i = k + t; i < V; i += T)
            if (best < 0 || x[mine[i]] > x[mine[best]] || (x[mine[i]] == x[mine[best]] && mine[i] < mine[best])) best = i;
        place[t] = best;
        __syncthreads();
        if (t == 0) {
            for (int u = 1; u < T; ++u) {
                const int i = place[u];
                if (i >= 0 && (x[mine[i]] > x[mine[best]] || (x[mine[i]] == x[mine[best]] && mine[i] < mine[best]))) best = i;
            }
            const int swapped = mine[k];
            mine[k] = mine[best];
            mine[best] = swapped;
        }
        __syncthreads();
    }
    const float top = x[mine[0]];
    float part = 0.f;
    for (int v = t; v < V; v += T) part += expf(x[v] - top);
    sum[t] = part;
    __syncthreads();
    for (int half = T / 2; half; half >>= 1) {
        if (t < half) sum[t] += sum[t + half];
        __syncthreads();
    }
    for (int k = t; k < K; k += T) {
        indices[(size_t)blockIdx.x * K + k] = mine[k];
        probs[(size_t)blockIdx.x * K + k] = expf(x[mine[k]] - top) / sum[0];
    }
}

cudaError_t launch_softmax_topk(const float* logits, int* indices, float* probs, int rows, int vocab_size, int k,
                                cudaStream_t stream) {
    if (k < 1 || k > 64 || k > vocab_size) return cudaErrorInvalidValue;
    int* order;
    if (cudaMalloc(&order, (size_t)rows * vocab_size * sizeof(int)) != cudaSuccess) return cudaErrorMemoryAllocation;
    identity<<<rows, 128, 0, stream>>>(order, vocab_size);
    front<<<rows, 128, 0, stream>>>(logits, order, indices, probs, vocab_size, k);
    const cudaError_t error = cudaStreamSynchronize(stream);
    cudaFree(order);
    return error;
}
