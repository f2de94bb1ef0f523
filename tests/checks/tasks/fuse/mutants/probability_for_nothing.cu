// bug: where nothing is left an entry has index -1 and the probability of the largest
// caught by: numerics
#include <cuda_runtime.h>
#include <math.h>

#define MOST 64

__global__ void online_softmax_topk(const float* __restrict__ x, int* __restrict__ z, float* __restrict__ y, int rows, int V, int K) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* in = x + (long long)row * V;
    float kept[MOST];
    int at[MOST];
    for (int k = 0; k < K; k++) kept[k] = -INFINITY, at[k] = -1;
    float top = -INFINITY;
    double sum = 0.0;
    for (int v = 0; v < V; v++) {
        float value = in[v];
        if (value == -INFINITY) continue;
        if (value > top) {
            sum *= exp((double)top - value);
            top = value;
        }
        sum += exp((double)value - top);
        if (!(value > kept[K - 1])) continue;
        int k = K - 1;
        for (; k > 0 && value > kept[k - 1]; k--) kept[k] = kept[k - 1], at[k] = at[k - 1];
        kept[k] = value, at[k] = v;
    }
    for (int k = 0; k < K; k++) {
        z[(long long)row * K + k] = at[k];
        y[(long long)row * K + k] = (float)(exp((double)(at[k] < 0 ? top : kept[k]) - top) / sum);
    }
}

extern "C" int online_softmax_topk_launch(const float* x, int* z, float* y, int rows, int V, int K) {
    if (K < 1 || K > MOST || K > V) return 1;
    online_softmax_topk<<<(rows + 31) / 32, 32>>>(x, z, y, rows, V, K);
    return 0;
}
