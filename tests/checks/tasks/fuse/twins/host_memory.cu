// style: the launcher takes host memory, brings the logits to the device and the answer back
#include <cuda_runtime.h>

#define THREADS 64

// A block per row: its maximum and sum together, then K times the largest entry that comes after the last one.
__global__ void topk_softmax_rows(const float* logits, int* indices, float* probs, int V, int K) {
    __shared__ float value[THREADS], total[THREADS];
    __shared__ int place[THREADS];
    const float* x = logits + (size_t)blockIdx.x * V;
    int me = threadIdx.x;
    float top = -INFINITY, sum = 0.f;
    for (int j = me; j < V; j += THREADS) {
        float larger = fmaxf(top, x[j]);
        if (larger > -INFINITY) sum = sum * expf(top - larger) + expf(x[j] - larger);
        top = larger;
    }
    value[me] = top, total[me] = sum;
    __syncthreads();
    float row_top = -INFINITY, row_sum = 0.f;
    for (int t = 0; t < THREADS; t++) row_top = fmaxf(row_top, value[t]);
    for (int t = 0; t < THREADS; t++)
        if (value[t] > -INFINITY) row_sum += total[t] * expf(value[t] - row_top);
    float before = INFINITY;
    int at = -1;
    for (int k = 0; k < K; k++) {
        float mine = -INFINITY;
        int where = -1;
        for (int j = me; j < V; j += THREADS) {
            bool left = x[j] < before || (x[j] == before && j > at);
            if (left && (where < 0 || x[j] > mine)) mine = x[j], where = j;
        }
        __syncthreads();
        value[me] = mine, place[me] = where;
        __syncthreads();
        int best = -1;
        for (int t = 0; t < THREADS; t++) {
            if (place[t] < 0) continue;
            bool first = best < 0 || value[t] > value[best] || (value[t] == value[best] && place[t] < place[best]);
            if (first) best = t;
        }
        if (best < 0) best = 0;  // nothing is left but NaN
        before = value[best], at = place[best];
        if (me == 0) {
            indices[(size_t)blockIdx.x * K + k] = at;
            probs[(size_t)blockIdx.x * K + k] = expf(before - row_top) / row_sum;
        }
    }
}

extern "C" int fused_topk_softmax(const float* h_logits, int* h_indices, float* h_probs, int B, int T, int V, int K) {
    if (K < 1 || K > V) return 1;
    size_t rows = (size_t)B * T;
    float *logits, *probs;
    int* indices;
    cudaMalloc(&logits, rows * V * sizeof(float));
    cudaMalloc(&probs, rows * K * sizeof(float));
    cudaMalloc(&indices, rows * K * sizeof(int));
    cudaMemcpy(logits, h_logits, rows * V * sizeof(float), cudaMemcpyHostToDevice);
    topk_softmax_rows<<<(unsigned)rows, THREADS>>>(logits, indices, probs, V, K);
    cudaMemcpy(h_indices, indices, rows * K * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(h_probs, probs, rows * K * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(logits), cudaFree(probs), cudaFree(indices);
    return cudaGetLastError() == cudaSuccess ? 0 : 2;
}
