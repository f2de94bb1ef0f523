// bug: blocks take rows from a __device__ counter that is set to 0 once, when the program is loaded: later launches find no rows
// caught by: topk_correct

#include <cuda_runtime.h>

__device__ unsigned int next_row = 0;

struct Pair {
    float x;
    int i;
};

__device__ Pair better(Pair a, Pair b) {
    if (b.i < 0) return a;
    if (a.i < 0 || b.x > a.x || (b.x == a.x && b.i < a.i)) return b;
    return a;
}

__global__ void worker(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    __shared__ unsigned int row;
    __shared__ Pair seen[64];
    __shared__ float sums[64];
    const int t = threadIdx.x;
    for (;;) {
        if (t == 0) row = atomicAdd(&next_row, 1u);
        __syncthreads();
        if (row >= (unsigned)rows) return;
        const float* x = logits + (size_t)row * V;
        Pair last = {INFINITY, -1};
        float top = 0.f, mass = 1.f;
        for (int k = 0; k < K; ++k) {
            Pair mine = {0.f, -1};
            for (int v = t; v < V; v += 64)
                if (x[v] < last.x || (x[v] == last.x && v > last.i)) mine = better(mine, Pair{x[v], v});
            seen[t] = mine;
            __syncthreads();
            for (int half = 32; half > 0; half /= 2) {
                if (t < half) seen[t] = better(seen[t], seen[t + half]);
                __syncthreads();
            }
            last = seen[0];
            if (k == 0) {
                top = last.x;
                float part = 0.f;
                for (int v = t; v < V; v += 64) part += expf(x[v] - top);
                sums[t] = part;
                __syncthreads();
                mass = 0.f;
                for (int u = 0; u < 64; ++u) mass += sums[u];
            }
            __syncthreads();
            if (t == 0) {
                indices[(size_t)row * K + k] = last.i;
                probs[(size_t)row * K + k] = expf(last.x - top) / mass;
            }
        }
        __syncthreads();
    }
}

cudaError_t persistent_topk(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream) {
    if (K < 1 || K > 64 || K > V) return cudaErrorInvalidValue;
    worker<<<4, 64, 0, stream>>>(logits, indices, probs, rows, V, K);
    return cudaGetLastError();
}
