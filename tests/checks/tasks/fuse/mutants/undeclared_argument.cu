// bug: the launch names an argument that nobody declared
// caught by: compiles

#include <cuda_runtime.h>

__global__ void greedy(const float* logits, int* token, float* prob, int V) {
    const int lane = threadIdx.x;
    const float* x = logits + (size_t)blockIdx.x * V;
    float m = -INFINITY;
    int at = V;
    for (int v = lane; v < V; v += 32)
        if (x[v] > m) {
            m = x[v];
            at = v;
        }
    for (int o = 16; o; o >>= 1) {
        const float y = __shfl_xor_sync(0xffffffffu, m, o);
        const int y_at = __shfl_xor_sync(0xffffffffu, at, o);
        if (y > m || (y == m && y_at < at)) {
            m = y;
            at = y_at;
        }
    }
    float s = 0.f;
    for (int v = lane; v < V; v += 32) s += expf(x[v] - m);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if (lane == 0) {
        token[blockIdx.x] = at;
        prob[blockIdx.x] = 1.f / s;
    }
}

cudaError_t softmax_top1(const float* logits, int* tokens, float* probs, int rows, int V, int K, cudaStream_t stream) {
    if (K != 1) return cudaErrorInvalidValue;
    greedy<<<rows, 32, 0, stream>>>(logits, token_ids, probs, V);
    return cudaGetLastError();
}
