// bug: an array in static shared memory has the size of a run-time argument
// caught by: compiles

#include <cuda_runtime.h>

__global__ void block_topk(const float* __restrict__ logits, int* __restrict__ indices, float* __restrict__ probs, int V,
                           int K) {
    __shared__ float best[K];
    __shared__ int best_at[K];
    __shared__ float sum;
    const float* x = logits + static_cast<size_t>(blockIdx.x) * V;
    if (threadIdx.x == 0) {
        int n = 0;
        for (int v = 0; v < V; ++v) {
            int k = n < K ? n++ : K;
            if (k == K) {
                if (x[v] <= best[K - 1]) continue;
                k = K - 1;
            }
            while (k > 0 && best[k - 1] < x[v]) {
                best[k] = best[k - 1];
                best_at[k] = best_at[k - 1];
                --k;
            }
            best[k] = x[v];
            best_at[k] = v;
        }
        sum = 0.0f;
    }
    __syncthreads();
    float part = 0.0f;
    for (int v = threadIdx.x; v < V; v += blockDim.x) part += expf(x[v] - best[0]);
    atomicAdd(&sum, part);
    __syncthreads();
    for (int k = threadIdx.x; k < K; k += blockDim.x) {
        indices[static_cast<size_t>(blockIdx.x) * K + k] = best_at[k];
        probs[static_cast<size_t>(blockIdx.x) * K + k] = expf(best[k] - best[0]) / sum;
    }
}

void launch_block_topk(const float* logits, int* indices, float* probs, int B, int T, int V, int K) {
    block_topk<<<B * T, 128>>>(logits, indices, probs, V, K);
}
