// bug: probabilities are normalized over the K entries that are returned, not over the vocabulary
// caught by: topk_correct

#include <cuda_runtime.h>
#include <cfloat>

// One block per row; a bitonic sort of 1024 slots, the upper half of which is refilled from the row.
constexpr int SLOTS = 1024;
constexpr int BLOCK = 512;

__device__ void bitonic(float* key, int* payload) {
    for (int size = 2; size <= SLOTS; size <<= 1) {
        for (int step = size >> 1; step > 0; step >>= 1) {
            __syncthreads();
            const int low = 2 * threadIdx.x - (threadIdx.x & (step - 1));
            const int high = low + step;
            const bool descending = (low & size) == 0;
            const bool first = key[low] > key[high] || (key[low] == key[high] && payload[low] < payload[high]);
            if (first != descending) {
                const float k = key[low];
                key[low] = key[high];
                key[high] = k;
                const int p = payload[low];
                payload[low] = payload[high];
                payload[high] = p;
            }
        }
    }
    __syncthreads();
}

__global__ void topk_softmax_kernel(const float* logits, int* topk_idx, float* topk_val, int V, int K) {
    __shared__ float key[SLOTS];
    __shared__ int payload[SLOTS];
    const float* row = logits + (size_t)blockIdx.x * V;
    key[threadIdx.x] = -INFINITY;
    payload[threadIdx.x] = 0x7fffffff;
    __syncthreads();
    for (int base = 0; base < V; base += SLOTS / 2) {
        const int v = base + threadIdx.x;
        // a tile without a logit above the K-th best changes nothing
        if (!__syncthreads_or(v < V && row[v] > key[K - 1]) && base > 0) continue;
        key[SLOTS / 2 + threadIdx.x] = v < V ? row[v] : -INFINITY;
        payload[SLOTS / 2 + threadIdx.x] = v < V ? v : 0x7fffffff;
        bitonic(key, payload);
    }
    float denominator = 0.f;
    for (int k = 0; k < K; ++k) denominator += expf(key[k] - key[0]);
    if (threadIdx.x < K) {
        topk_idx[(size_t)blockIdx.x * K + threadIdx.x] = payload[threadIdx.x];
        topk_val[(size_t)blockIdx.x * K + threadIdx.x] = expf(key[threadIdx.x] - key[0]) / denominator;
    }
}

cudaError_t launch_topk_softmax(const float* logits, int* topk_idx, float* topk_val, int B, int T, int V, int K,
                                cudaStream_t stream) {
    if (K <= 0 || K > SLOTS / 2 || K > V) return cudaErrorInvalidValue;
    topk_softmax_kernel<<<dim3(B * T), dim3(BLOCK), 0, stream>>>(logits, topk_idx, topk_val, V, K);
    return cudaGetLastError();
}
