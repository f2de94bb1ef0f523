// bug: candidates are ranked by float32 probabilities, which are all 0 beyond about 103 below the maximum
// caught by: numerics

#include <cuda_runtime.h>
#include <cfloat>

constexpr int TPB = 128;

__device__ float all_reduce(float v, float* tmp, bool sum) {
    for (int o = 16; o > 0; o >>= 1) {
        const float w = __shfl_xor_sync(0xffffffff, v, o);
        v = sum ? v + w : fmaxf(v, w);
    }
    if (threadIdx.x % 32 == 0) tmp[threadIdx.x / 32] = v;
    __syncthreads();
    v = tmp[0];
    for (int w = 1; w < TPB / 32; ++w) v = sum ? v + tmp[w] : fmaxf(v, tmp[w]);
    __syncthreads();
    return v;
}

__global__ void topk_by_probability(const float* logits, int* indices, float* probs, int V, int K) {
    __shared__ float tmp[TPB / 32];
    __shared__ float best_p[TPB];
    __shared__ int best_i[TPB];
    const float* x = logits + size_t(blockIdx.x) * V;
    float m = -FLT_MAX, s = 0.0f;
    for (int i = threadIdx.x; i < V; i += TPB) m = fmaxf(m, x[i]);
    m = all_reduce(m, tmp, false);
    for (int i = threadIdx.x; i < V; i += TPB) s += expf(x[i] - m);
    s = all_reduce(s, tmp, true);

    float p_last = 2.0f;
    int i_last = -1;
    for (int k = 0; k < K; ++k) {
        float p_best = -1.0f;
        int i_best = -1;
        for (int i = threadIdx.x; i < V; i += TPB) {
            const float p = expf(x[i] - m) / s;
            if ((p < p_last || (p == p_last && i > i_last)) && p > p_best) {
                p_best = p;
                i_best = i;
            }
        }
        best_p[threadIdx.x] = p_best;
        best_i[threadIdx.x] = i_best;
        __syncthreads();
        if (threadIdx.x < 32) {
            for (int t = threadIdx.x + 32; t < TPB; t += 32)
                if (best_p[t] > p_best || (best_p[t] == p_best && best_i[t] < i_best)) {
                    p_best = best_p[t];
                    i_best = best_i[t];
                }
            for (int o = 16; o > 0; o >>= 1) {
                const float p = __shfl_xor_sync(0xffffffff, p_best, o);
                const int i = __shfl_xor_sync(0xffffffff, i_best, o);
                if (p > p_best || (p == p_best && i < i_best)) {
                    p_best = p;
                    i_best = i;
                }
            }
            if (threadIdx.x == 0) {
                best_p[0] = p_best;
                best_i[0] = i_best;
                probs[size_t(blockIdx.x) * K + k] = p_best;
                indices[size_t(blockIdx.x) * K + k] = i_best;
            }
        }
        __syncthreads();
        p_last = best_p[0];
        i_last = best_i[0];
        __syncthreads();
    }
}

cudaError_t topk_probabilities(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream) {
    if (K < 1 || K > 64 || K > V) return cudaErrorInvalidValue;
    topk_by_probability<<<rows, TPB, 0, stream>>>(logits, indices, probs, V, K);
    return cudaGetLastError();
}
