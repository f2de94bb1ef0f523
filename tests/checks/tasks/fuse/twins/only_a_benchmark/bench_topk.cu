// style: the only file is called a benchmark, and its host function makes its own data
// skips: resources (no instance of its kernel without host code)
#include <cfloat>
#include <math.h>

__global__ void topk_softmax_kernel(const float* __restrict__ logits, int* __restrict__ indices,
                                    float* __restrict__ probs, int rows, int V, int K) {
    const int row = blockIdx.x;
    const float* x = logits + static_cast<long long>(row) * V;
    if (threadIdx.x == 0) {
        float top = -FLT_MAX;
        double sum = 0.0;
        for (int j = 0; j < V; ++j) top = fmaxf(top, x[j]);
        for (int j = 0; j < V; ++j) sum += exp((double)x[j] - top);
        for (int k = 0; k < K; ++k) {
            int best = -1;
            for (int j = 0; j < V; ++j) {
                bool taken = false;
                for (int i = 0; i < k; ++i) taken |= indices[(size_t)row * K + i] == j;
                if (!taken && (best < 0 || x[j] > x[best])) best = j;
            }
            indices[(size_t)row * K + k] = best;
            probs[(size_t)row * K + k] = (float)(exp((double)x[best] - top) / sum);
        }
    }
}

void run_topk(int batch_size, int V, int K) {
    float *x, *p;
    int* i;
    cudaMalloc(&x, sizeof(float) * batch_size * V);
    cudaMalloc(&p, sizeof(float) * batch_size * K);
    cudaMalloc(&i, sizeof(int) * batch_size * K);
    topk_softmax_kernel<<<batch_size, 32>>>(x, i, p, batch_size, V, K);
}
