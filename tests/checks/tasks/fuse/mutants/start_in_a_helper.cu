// bug: a helper multiplies the number of a row with V in 32 bits
// caught by: offsets (warn)
// passes: topk_correct
#include <cfloat>
#include <math.h>

__device__ float logit_at(const float* logits, int row, int V, int j) { return logits[row * V + j]; }

__global__ void topk_softmax_kernel(const float* __restrict__ logits, int* __restrict__ indices,
                                    float* __restrict__ probs, int rows, int V, int K) {
    const int row = blockIdx.x;
    if (threadIdx.x == 0) {
        float top = -FLT_MAX;
        double sum = 0.0;
        for (int j = 0; j < V; ++j) top = fmaxf(top, logit_at(logits, row, V, j));
        for (int j = 0; j < V; ++j) sum += exp((double)logit_at(logits, row, V, j) - top);
        for (int k = 0; k < K; ++k) {
            int best = -1;
            for (int j = 0; j < V; ++j) {
                bool taken = false;
                for (int i = 0; i < k; ++i) taken |= indices[(size_t)row * K + i] == j;
                if (!taken && (best < 0 || logit_at(logits, row, V, j) > logit_at(logits, row, V, best))) best = j;
            }
            indices[(size_t)row * K + k] = best;
            probs[(size_t)row * K + k] = (float)(exp((double)logit_at(logits, row, V, best) - top) / sum);
        }
    }
}

extern "C" int launch_topk_softmax(const float* logits, int* indices, float* probs, int B, int T, int V, int K,
                                   cudaStream_t stream) {
    if (K < 1 || K > V) return 1;
    const int rows = B * T;
    topk_softmax_kernel<<<rows, 32, 0, stream>>>(logits, indices, probs, rows, V, K);
    return 0;
}
