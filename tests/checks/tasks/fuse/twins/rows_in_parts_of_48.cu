// style: rows go in parts of 48, the last one shorter; what was found is laid out by a kernel of its own
// only: memory_safety, topk_correct
#include <cfloat>
#include <math.h>

#define PART 48
#define MOST 1024

__device__ float found_probs[PART * MOST];
__device__ int found_places[PART * MOST];

__global__ void find(const float* __restrict__ logits, int first, int V, int K) {
    const int row = blockIdx.x;
    const float* x = logits + static_cast<long long>(first + row) * V;
    if (threadIdx.x == 0) {
        float top = -FLT_MAX;
        double sum = 0.0;
        for (int j = 0; j < V; ++j) top = fmaxf(top, x[j]);
        for (int j = 0; j < V; ++j) sum += exp((double)x[j] - top);
        for (int k = 0; k < K; ++k) {
            int best = -1;
            for (int j = 0; j < V; ++j) {
                bool taken = false;
                for (int i = 0; i < k; ++i) taken |= found_places[row * K + i] == j;
                if (!taken && (best < 0 || x[j] > x[best])) best = j;
            }
            found_places[row * K + k] = best;
            found_probs[row * K + k] = (float)(exp((double)x[best] - top) / sum);
        }
    }
}

__global__ void lay_out(int* __restrict__ indices, float* __restrict__ probs, int first, int K) {
    const int row = blockIdx.x;
    for (int k = threadIdx.x; k < K; k += blockDim.x) {
        indices[(size_t)(first + row) * K + k] = found_places[row * K + k];
        probs[(size_t)(first + row) * K + k] = found_probs[row * K + k];
    }
}

extern "C" int launch_topk_softmax(const float* logits, int* indices, float* probs, int B, int T, int V, int K,
                                   cudaStream_t stream) {
    if (K < 1 || K > V || K > MOST) return 1;
    const int rows = B * T, part = rows < PART ? rows : PART;
    for (int first = 0; first < rows; first += part) {
        const int count = rows - first < part ? rows - first : part;
        find<<<count, 32, 0, stream>>>(logits, first, V, K);
        lay_out<<<count, 32, 0, stream>>>(indices, probs, first, K);
    }
    return 0;
}
