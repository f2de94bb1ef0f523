// right: the grid's y is cut to 65,535 and blocks go on from row to row; where a launch is refused all the same,
// right: rows are laid along x
// only: topk_correct, rows_independent, k_range
#include <cuda_runtime.h>
#include <math.h>

#define LANES 32

__device__ static void one_row(const float* x, int* idx, float* prob, int V, int K) {
    const unsigned all = 0xffffffffu;
    float top = -INFINITY, sum = 0.0f, last = 0.0f;
    int last_at = -1;
    for (int i = threadIdx.x; i < V; i += LANES) top = fmaxf(top, x[i]);
    for (int d = LANES / 2; d; d >>= 1) top = fmaxf(top, __shfl_xor_sync(all, top, d));
    for (int i = threadIdx.x; i < V; i += LANES) sum += expf(x[i] - top);
    for (int d = LANES / 2; d; d >>= 1) sum += __shfl_xor_sync(all, sum, d);
    for (int k = 0; k < K; k++) {
        float best = 0.0f;
        int at = V;
        for (int i = threadIdx.x; i < V; i += LANES) {
            if (k && (x[i] > last || (x[i] == last && i <= last_at))) continue;
            if (at == V || x[i] > best) best = x[i], at = i;
        }
        for (int d = LANES / 2; d; d >>= 1) {
            const float b = __shfl_xor_sync(all, best, d);
            const int a = __shfl_xor_sync(all, at, d);
            if (a < V && (at == V || b > best || (b == best && a < at))) best = b, at = a;
        }
        last = best, last_at = at;
        if (threadIdx.x == 0) {
            idx[k] = at;
            prob[k] = expf(best - top) / sum;
        }
    }
}

__global__ void topk_rows(const float* logits, int* idx, float* prob, int rows, int V, int K) {
    const size_t stride = (size_t)gridDim.x * gridDim.y;
    for (size_t r = (size_t)blockIdx.x * gridDim.y + blockIdx.y; r < (size_t)rows; r += stride)
        one_row(logits + r * V, idx + r * K, prob + r * K, V, K);
}

cudaError_t launch_topk(const float* logits, int* idx, float* prob, int B, int T, int V, int K) {
    const int rows = B * T;
    const dim3 wanted(1, B > 1 ? T : (rows < 65535 ? rows : 65535), B > 1 ? B : 1);
    topk_rows<<<dim3(wanted.x * wanted.z, wanted.y), LANES>>>(logits, idx, prob, rows, V, K);
    if (cudaGetLastError() == cudaErrorInvalidConfiguration)
        topk_rows<<<rows, LANES>>>(logits, idx, prob, rows, V, K);
    return cudaGetLastError();
}
