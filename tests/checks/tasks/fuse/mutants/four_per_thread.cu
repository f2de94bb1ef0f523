// bug: every thread keeps only the 4 best logits of its stripe: when a stripe holds more of the top k, the rest is lost
// caught by: numerics

#include <cuda_runtime.h>

#define NUM_THREADS 256
#define PER_THREAD 4

__global__ void
strided_topk(const float *__restrict__ logits, int *__restrict__ topk_ids, float *__restrict__ topk_ps, int V, int K)
{
    __shared__ float cand[NUM_THREADS * PER_THREAD];
    __shared__ int cand_id[NUM_THREADS * PER_THREAD];
    __shared__ float block_m[NUM_THREADS / 32], block_d[NUM_THREADS / 32];

    const int t = threadIdx.x;
    const float *x = logits + (size_t)blockIdx.x * V;

    float v0 = -INFINITY, v1 = -INFINITY, v2 = -INFINITY, v3 = -INFINITY;
    int i0 = -1, i1 = -1, i2 = -1, i3 = -1;
    float m = -1e37f, d = 0.f;
    for (int j = t; j < V; j += NUM_THREADS) {
        const float y = x[j];
        if (y > m) { d = d * expf(m - y) + 1.f; m = y; } else { d += expf(y - m); }
        if (i0 < 0 || y > v0)      { v3 = v2; i3 = i2; v2 = v1; i2 = i1; v1 = v0; i1 = i0; v0 = y; i0 = j; }
        else if (i1 < 0 || y > v1) { v3 = v2; i3 = i2; v2 = v1; i2 = i1; v1 = y; i1 = j; }
        else if (i2 < 0 || y > v2) { v3 = v2; i3 = i2; v2 = y; i2 = j; }
        else if (i3 < 0 || y > v3) { v3 = y; i3 = j; }
    }
    cand[t] = v0;                   cand_id[t] = i0;
    cand[t + NUM_THREADS] = v1;     cand_id[t + NUM_THREADS] = i1;
    cand[t + 2 * NUM_THREADS] = v2; cand_id[t + 2 * NUM_THREADS] = i2;
    cand[t + 3 * NUM_THREADS] = v3; cand_id[t + 3 * NUM_THREADS] = i3;

    float top = m;
    for (int o = 16; o; o /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, o));
    d *= expf(m - top);
    for (int o = 16; o; o /= 2) d += __shfl_xor_sync(0xffffffff, d, o);
    if (t % 32 == 0) { block_m[t / 32] = top; block_d[t / 32] = d; }
    __syncthreads();
    for (int w = 0; w < NUM_THREADS / 32; ++w) top = fmaxf(top, block_m[w]);
    float mass = 0.f;
    for (int w = 0; w < NUM_THREADS / 32; ++w) mass += block_d[w] * expf(block_m[w] - top);

    // the place of a candidate is the number of candidates before it
    for (int c = t; c < NUM_THREADS * PER_THREAD; c += NUM_THREADS) {
        if (cand_id[c] < 0) continue;
        int place = 0;
        for (int e = 0; e < NUM_THREADS * PER_THREAD && place < K; ++e)
            place += cand_id[e] >= 0 && (cand[e] > cand[c] || (cand[e] == cand[c] && cand_id[e] < cand_id[c]));
        if (place < K) {
            topk_ids[(size_t)blockIdx.x * K + place] = cand_id[c];
            topk_ps[(size_t)blockIdx.x * K + place] = expf(cand[c] - top) / mass;
        }
    }
}

cudaError_t fused_topk_softmax(const float *logits, int *topk_ids, float *topk_ps, int rows, int V, int K)
{
    if (K < 1 || K > NUM_THREADS || K > V) return cudaErrorInvalidValue;
    strided_topk<<<rows, NUM_THREADS>>>(logits, topk_ids, topk_ps, V, K);
    return cudaGetLastError();
}
