// bug: K is a template parameter of the kernel and the launcher hands it a number that is only known when it runs
// caught by: compiles

#include <cuda_runtime.h>

template <int K>
__global__ void topk(const float* logits, int* indices, float* probs, int V) {
    if (threadIdx.x != 0) return;
    const float* x = logits + (size_t)blockIdx.x * V;
    float value[K];
    int index[K];
    int n = 0;
    float m = -1e38f, d = 0.f;
    for (int v = 0; v < V; ++v) {
        const float up = fmaxf(m, x[v]);
        d = d * expf(m - up) + expf(x[v] - up);
        m = up;
        int k = n < K ? n++ : (x[v] > value[K - 1] ? K - 1 : K);
        if (k == K) continue;
        for (; k > 0 && value[k - 1] < x[v]; --k) {
            value[k] = value[k - 1];
            index[k] = index[k - 1];
        }
        value[k] = x[v];
        index[k] = v;
    }
    for (int k = 0; k < K; ++k) {
        indices[(size_t)blockIdx.x * K + k] = index[k];
        probs[(size_t)blockIdx.x * K + k] = expf(value[k] - m) / d;
    }
}

cudaError_t fused_topk(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    if (K < 1 || K > V) return cudaErrorInvalidValue;
    topk<K><<<rows, 32>>>(logits, indices, probs, V);
    return cudaGetLastError();
}
