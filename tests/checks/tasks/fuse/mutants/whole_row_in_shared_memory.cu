// bug: a block keeps the whole row in shared memory, of which there is too little for a large vocabulary
// caught by: rows_independent
// passes: compiles
// only: rows_independent, compiles

#include <cuda_runtime.h>
#include <math.h>

constexpr int kThreads = 128;

__global__ void softmax_topk_of_row(const float* logits, int* ids, float* weights, int V, int K) {
    extern __shared__ float row[];
    __shared__ float value[kThreads];
    __shared__ int at[kThreads];
    const float* mine = logits + (size_t)blockIdx.x * V;
    for (int i = threadIdx.x; i < V; i += kThreads) row[i] = mine[i];
    __syncthreads();
    float top = 0.0f, total = 0.0f;
    for (int place = 0; place < K; ++place) {
        int best = -1;
        for (int i = threadIdx.x; i < V; i += kThreads)
            if (!isnan(row[i]) && (best < 0 || row[i] > row[best])) best = i;
        value[threadIdx.x] = best < 0 ? -INFINITY : row[best];
        at[threadIdx.x] = best;
        __syncthreads();
        for (int step = kThreads / 2; step > 0; step >>= 1) {
            const int other = threadIdx.x + step;
            if (threadIdx.x < step && at[other] >= 0 && (at[threadIdx.x] < 0 || value[other] > value[threadIdx.x])) {
                value[threadIdx.x] = value[other];
                at[threadIdx.x] = at[other];
            }
            __syncthreads();
        }
        const int chosen = at[0];
        const float x = value[0];
        __syncthreads();
        if (place == 0) {
            top = x;
            float part = 0.0f;
            for (int i = threadIdx.x; i < V; i += kThreads) part += expf(row[i] - top);
            value[threadIdx.x] = part;
            __syncthreads();
            for (int step = kThreads / 2; step > 0; step >>= 1) {
                if (threadIdx.x < step) value[threadIdx.x] += value[threadIdx.x + step];
                __syncthreads();
            }
            total = value[0];
        }
        if (threadIdx.x == 0) {
            ids[(size_t)blockIdx.x * K + place] = chosen;
            weights[(size_t)blockIdx.x * K + place] = expf(x - top) / total;
            row[chosen] = NAN;
        }
        __syncthreads();
    }
}

extern "C" void softmax_topk(void* weights, void* ids, const void* logits, int rows, int V, int K, void* stream) {
    if (rows == 0) return;
    const size_t bytes = V * sizeof(float);
    softmax_topk_of_row<<<rows, kThreads, bytes, (cudaStream_t)stream>>>(
        (const float*)logits, (int*)ids, (float*)weights, V, K);
}
