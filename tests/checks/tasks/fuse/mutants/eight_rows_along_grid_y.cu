// bug: blocks of eight rows stand along the grid's y, where there are 65,535 at most: from 524,281 rows on no launch is taken
// caught by: rows_independent
// passes: topk_correct, k_range
#include <cfloat>
#include <cuda_runtime.h>

#define ROWS_PER_BLOCK 8
#define MOST_K 64

// A thread per row and lane: each row has a line of 32 threads and, of its shared memory, a line as well.
__global__ void rows_of_eight(const float* __restrict__ logits, int* __restrict__ ids, float* __restrict__ p, int rows, int V,
                              int K) {
    __shared__ float peak[ROWS_PER_BLOCK][32], mass[ROWS_PER_BLOCK][32];
    __shared__ int where[ROWS_PER_BLOCK][32];
    const int lane = threadIdx.x, line = threadIdx.y;
    const long long r = (long long)blockIdx.y * ROWS_PER_BLOCK + line;
    const bool mine = r < rows;
    const float* x = logits + (mine ? r : 0) * V;

    float m = -FLT_MAX, z = 0.0f;
    for (int v = lane; v < V; v += 32) m = fmaxf(m, x[v]);
    peak[line][lane] = m;
    __syncthreads();
    for (int other = 0; other < 32; ++other) m = fmaxf(m, peak[line][other]);
    for (int v = lane; v < V; v += 32) z += expf(x[v] - m);
    mass[line][lane] = z;
    __syncthreads();
    z = 0.0f;
    for (int other = 0; other < 32; ++other) z += mass[line][other];

    float bound = 0.0f;
    int bound_at = -1;
    for (int k = 0; k < K; ++k) {
        float best = 0.0f;
        int at = -1;
        for (int v = lane; v < V; v += 32) {
            const bool later = k == 0 || x[v] < bound || (x[v] == bound && v > bound_at);
            if (later && (at < 0 || x[v] > best)) best = x[v], at = v;
        }
        __syncthreads();
        peak[line][lane] = best;
        where[line][lane] = at;
        __syncthreads();
        bound_at = -1;
        for (int other = 0; other < 32; ++other) {
            const int a = where[line][other];
            const float b = peak[line][other];
            if (a >= 0 && (bound_at < 0 || b > bound || (b == bound && a < bound_at))) bound = b, bound_at = a;
        }
        if (mine && lane == 0) {
            ids[r * K + k] = bound_at;
            p[r * K + k] = expf(bound - m) / z;
        }
    }
}

cudaError_t softmax_topk(const float* logits, int* ids, float* p, int rows, int V, int K, cudaStream_t stream) {
    if (K < 1 || K > MOST_K || K > V) return cudaErrorInvalidValue;
    const dim3 block(32, ROWS_PER_BLOCK), grid(1, (rows + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK);
    rows_of_eight<<<grid, block, 0, stream>>>(logits, ids, p, rows, V, K);
    return cudaGetLastError();
}
