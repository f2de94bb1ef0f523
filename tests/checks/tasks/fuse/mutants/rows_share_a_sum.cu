// bug: a warp owns a row, but the sum of exponentials is accumulated in one shared number for all warps of the block
// caught by: rows_independent
// passes: compiles, topk_correct

#include <cuda_runtime.h>

constexpr int WARPS_PER_BLOCK = 4;
constexpr int MAX_K = 32;

struct Candidate {
    float x;
    int token;
};

__device__ bool wins(Candidate a, Candidate b) { return a.x > b.x || (a.x == b.x && a.token < b.token); }

__global__ void warp_per_row(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    __shared__ float denominator;
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS_PER_BLOCK + threadIdx.x / 32;
    const float* x = logits + size_t(row) * V;

    if (threadIdx.x == 0) denominator = 0.0f;
    __syncthreads();

    float top = -3.4e38f;
    if (row < rows)
        for (int v = lane; v < V; v += 32) top = fmaxf(top, x[v]);
    for (int o = 16; o > 0; o /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, o));

    float part = 0.0f;
    if (row < rows)
        for (int v = lane; v < V; v += 32) part += expf(x[v] - top);
    atomicAdd(&denominator, part);
    __syncthreads();
    if (row >= rows) return;

    Candidate last = {INFINITY, -1};
    for (int k = 0; k < K; ++k) {
        Candidate best = {-INFINITY, 0x7fffffff};
        for (int v = lane; v < V; v += 32) {
            const Candidate c = {x[v], v};
            if (wins(last, c) && wins(c, best)) best = c;
        }
        for (int o = 16; o > 0; o /= 2) {
            const Candidate c = {__shfl_xor_sync(0xffffffff, best.x, o), __shfl_xor_sync(0xffffffff, best.token, o)};
            if (wins(c, best)) best = c;
        }
        if (lane == 0) {
            indices[size_t(row) * K + k] = best.token;
            probs[size_t(row) * K + k] = expf(best.x - top) / denominator;
        }
        last = best;
    }
}

cudaError_t softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream) {
    if (K < 1 || K > MAX_K || K > V) return cudaErrorInvalidValue;
    const int blocks = (rows + WARPS_PER_BLOCK - 1) / WARPS_PER_BLOCK;
    warp_per_row<<<blocks, 32 * WARPS_PER_BLOCK, 0, stream>>>(logits, indices, probs, rows, V, K);
    return cudaGetLastError();
}
