// bug: the place where a row begins is widened once it has wrapped
// caught by: offsets (warn)
// passes: topk_correct
#include <cfloat>
#include <math.h>

__global__ void topk_softmax_kernel(const float* __restrict__ logits, int* __restrict__ indices,
                                    float* __restrict__ probs, int rows, int V, int K) {
    const unsigned row = blockIdx.x;
    const size_t start = row * V;
    if (threadIdx.x == 0) {
        float top = -FLT_MAX;
        double sum = 0.0;
        for (int j = 0; j < V; ++j) top = fmaxf(top, logits[start + j]);
        for (int j = 0; j < V; ++j) sum += exp((double)logits[start + j] - top);
        for (int k = 0; k < K; ++k) {
            int best = -1;
            for (int j = 0; j < V; ++j) {
                bool taken = false;
                for (int i = 0; i < k; ++i) taken |= indices[(size_t)row * K + i] == j;
                if (!taken && (best < 0 || logits[start + j] > logits[start + best])) best = j;
            }
            indices[(size_t)row * K + k] = best;
            probs[(size_t)row * K + k] = (float)(exp((double)logits[start + best] - top) / sum);
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
