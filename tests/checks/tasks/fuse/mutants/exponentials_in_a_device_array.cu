// bug: every exponential of every row is written to a __device__ array, where no allocation shows it
// caught by: no_materialize

#include <cuda_runtime.h>

static constexpr int kMostElements = 1 << 23;
__device__ float g_exponentials[kMostElements];

static __device__ void warp_best(float& x, int& i) {
    for (int o = 16; o; o >>= 1) {
        const float y = __shfl_down_sync(0xffffffffu, x, o);
        const int j = __shfl_down_sync(0xffffffffu, i, o);
        if (y > x || (y == x && j < i)) {
            x = y;
            i = j;
        }
    }
    x = __shfl_sync(0xffffffffu, x, 0);
    i = __shfl_sync(0xffffffffu, i, 0);
}

__global__ void exponentials_then_topk(const float* logits, int* indices, float* probs, int V, int K) {
    const int lane = threadIdx.x;
    const float* x = logits + (size_t)blockIdx.x * V;
    float* e = g_exponentials + (size_t)blockIdx.x * V;
    float top = -INFINITY;
    int top_at = V;
    for (int v = lane; v < V; v += 32)
        if (x[v] > top) {
            top = x[v];
            top_at = v;
        }
    warp_best(top, top_at);
    float sum = 0.f;
    for (int v = lane; v < V; v += 32) sum += e[v] = expf(x[v] - top);
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
    float last = top;
    int last_at = top_at;
    for (int k = 0; k < K; ++k) {
        if (lane == 0) {
            indices[(size_t)blockIdx.x * K + k] = last_at;
            probs[(size_t)blockIdx.x * K + k] = e[last_at] / sum;
        }
        __syncwarp();
        float best = -INFINITY;
        int at = V;
        for (int v = lane; v < V; v += 32)
            if ((x[v] < last || (x[v] == last && v > last_at)) && (x[v] > best || (x[v] == best && v < at))) {
                best = x[v];
                at = v;
            }
        warp_best(best, at);
        last = best;
        last_at = at;
    }
}

cudaError_t run(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream) {
    if (K < 1 || K > V || K > 64 || (size_t)rows * V > kMostElements) return cudaErrorInvalidValue;
    exponentials_then_topk<<<rows, 32, 0, stream>>>(logits, indices, probs, V, K);
    return cudaGetLastError();
}
