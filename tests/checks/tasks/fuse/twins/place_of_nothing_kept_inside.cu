// right: where no logit compares the first place stands for it
// only: topk_correct, numerics, memory_safety

#include <cuda_runtime.h>
#include <math.h>

#define MOST 64

// A warp per row: K times the largest of those that were not chosen yet.
__global__ void choose(const float* logits, int* indices, float* probs, int V, int K) {
    __shared__ int chosen[MOST];
    const int lane = threadIdx.x;
    const float* x = logits + (size_t)blockIdx.x * V;

    float top = -INFINITY, sum = 0.f;
    for (int v = lane; v < V; v += 32) top = fmaxf(top, x[v]);
    for (int o = 16; o; o /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
    for (int v = lane; v < V; v += 32) sum += expf(x[v] - top);
    for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);

    for (int k = 0; k < K; ++k) {
        float best = -INFINITY;
        int place = -1;
        for (int v = lane; v < V; v += 32) {
            bool taken = false;
            for (int j = 0; j < k; ++j) taken = taken || chosen[j] == v;
            if (!taken && (x[v] > best || (place < 0 && x[v] == best))) {
                best = x[v];
                place = v;
            }
        }
        for (int o = 16; o; o /= 2) {
            const float other = __shfl_xor_sync(0xffffffffu, best, o);
            const int there = __shfl_xor_sync(0xffffffffu, place, o);
            if (there >= 0 && (place < 0 || other > best || (other == best && there < place))) {
                best = other;
                place = there;
            }
        }
        if (place < 0) place = 0;
        if (lane == 0) {
            chosen[k] = place;
            indices[(size_t)blockIdx.x * K + k] = place;
            probs[(size_t)blockIdx.x * K + k] = expf(x[place] - top) / sum;
        }
        __syncwarp();
    }
}

cudaError_t softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    if (K < 1 || K > MOST || K > V) return cudaErrorInvalidValue;
    choose<<<rows, 32>>>(logits, indices, probs, V, K);
    return cudaGetLastError();
}
