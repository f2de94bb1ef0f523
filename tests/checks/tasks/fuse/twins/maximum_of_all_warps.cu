// style: the maximum goes through each warp by shuffles, and every thread takes that of all warps
// only: numerics, topk_correct
// Fused softmax + top-k: a histogram of leading bits, a buffer of candidates in shared memory, ranks among them.
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

#define BLOCK 256
#define KMAX 256
#define BINS 1024
#define SHIFT 22
#define ROOM 768

__device__ __forceinline__ uint32_t key_of(float x) {
    uint32_t u = __float_as_uint(x);
    return (u >> 31) ? ~u : (u | 0x80000000u);
}

__global__ void radix_topk(const float* __restrict__ logits, int* __restrict__ out_i, float* __restrict__ out_p,
                           int V, int K) {
    __shared__ unsigned int hist[BINS];
    __shared__ uint32_t s_bin;
    __shared__ int s_count;
    __shared__ float red[BLOCK];
    __shared__ int redi[BLOCK];
    __shared__ float cv[ROOM];
    __shared__ int ci[ROOM];

    const int tid = threadIdx.x;
    const float* x = logits + (size_t)blockIdx.x * V;

    // maximum and sum
    float m = -INFINITY;
    for (int i = tid; i < V; i += BLOCK) m = fmaxf(m, x[i]);
    for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
    if (tid % 32 == 0) red[tid / 32] = m;
    __syncthreads();
    for (int w = 0; w < BLOCK / 32; ++w) m = fmaxf(m, red[w]);
    __syncthreads();
    float sum = 0.0f;
    for (int i = tid; i < V; i += BLOCK) sum += expf(x[i] - m);
    red[tid] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (tid < s) red[tid] += red[tid + s];
        __syncthreads();
    }
    sum = red[0];

    // the bin that holds the K-th largest
    for (int b = tid; b < BINS; b += BLOCK) hist[b] = 0;
    if (tid == 0) s_count = 0;
    __syncthreads();
    for (int i = tid; i < V; i += BLOCK) atomicAdd(&hist[key_of(x[i]) >> SHIFT], 1u);
    __syncthreads();
    if (tid == 0) {
        int above = 0, b = BINS;
        while (b > 0 && above < K) above += hist[--b];
        s_bin = b;
    }
    __syncthreads();

    // what lies in it or above
    for (int i = tid; i < V; i += BLOCK) {
        if (key_of(x[i]) >> SHIFT >= s_bin) {
            int at = atomicAdd(&s_count, 1);
            if (at < ROOM) { cv[at] = x[i]; ci[at] = i; }
        }
    }
    __syncthreads();
    if (s_count > ROOM) {
        // a full bin: one maximum after another, in order of logit and place
        float bound = INFINITY;
        int last = -1;
        for (int k = 0; k < K; ++k) {
            float bv = -INFINITY;
            int bi = V;
            for (int i = tid; i < V; i += BLOCK) {
                float v = x[i];
                bool next = v < bound || (v == bound && i > last);
                if (next && (v > bv || (v == bv && i < bi))) { bv = v; bi = i; }
            }
            red[tid] = bv;
            redi[tid] = bi;
            __syncthreads();
            for (int s = BLOCK / 2; s > 0; s >>= 1) {
                if (tid < s && (red[tid + s] > red[tid] || (red[tid + s] == red[tid] && redi[tid + s] < redi[tid]))) {
                    red[tid] = red[tid + s];
                    redi[tid] = redi[tid + s];
                }
                __syncthreads();
            }
            bound = red[0];
            last = redi[0];
            if (tid == 0) {
                out_i[(size_t)blockIdx.x * K + k] = last;
                out_p[(size_t)blockIdx.x * K + k] = expf(bound - m) / sum;
            }
            __syncthreads();
        }
        return;
    }
    // each candidate's rank among them
    const int n = min(s_count, ROOM);
    for (int c = tid; c < n; c += BLOCK) {
        int r = 0;
        for (int o = 0; o < n; ++o) r += cv[o] > cv[c] || (cv[o] == cv[c] && ci[o] < ci[c]);
        if (r < K) {
            out_i[(size_t)blockIdx.x * K + r] = ci[c];
            out_p[(size_t)blockIdx.x * K + r] = expf(cv[c] - m) / sum;
        }
    }
}

extern "C" cudaError_t radix_softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K,
                                          cudaStream_t stream) {
    if (K < 1 || K > KMAX || K > V) return cudaErrorInvalidValue;
    radix_topk<<<rows, BLOCK, 0, stream>>>(logits, indices, probs, V, K);
    return cudaGetLastError();
}
