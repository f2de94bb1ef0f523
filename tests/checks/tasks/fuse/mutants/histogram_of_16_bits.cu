// bug: counts of a histogram are read as 16 bits, so that 65536 are none
// caught by: numerics
// passes: topk_correct
// Fused softmax + top-k by radix select: four passes of 8 bits find the K-th key, a gather and a sort follow.
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

#define BLOCK 256
#define KMAX 256

__device__ __forceinline__ uint32_t key_of(float x) {
    uint32_t u = __float_as_uint(x);
    return (u >> 31) ? ~u : (u | 0x80000000u);
}

__global__ void radix_topk(const float* __restrict__ logits, int* __restrict__ out_i, float* __restrict__ out_p,
                           int V, int K) {
    __shared__ unsigned int hist[256];      // two 16-bit counters would do, but atomics want 32
    __shared__ uint32_t s_prefix;
    __shared__ int s_need, s_above, s_equal;
    __shared__ float red[BLOCK];
    __shared__ float cv[KMAX];
    __shared__ int ci[KMAX];

    const int tid = threadIdx.x;
    const float* x = logits + (size_t)blockIdx.x * V;

    // maximum and sum
    float m = -INFINITY;
    for (int i = tid; i < V; i += BLOCK) m = fmaxf(m, x[i]);
    red[tid] = m;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
        __syncthreads();
    }
    m = red[0];
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

    // the K-th largest key
    if (tid == 0) { s_prefix = 0; s_need = K; s_above = 0; s_equal = 0; }
    __syncthreads();
    for (int shift = 24; shift >= 0; shift -= 8) {
        hist[tid] = 0;
        __syncthreads();
        const uint32_t high = shift == 24 ? 0u : 0xffffffffu << (shift + 8);
        const uint32_t prefix = s_prefix;
        for (int i = tid; i < V; i += BLOCK) {
            uint32_t k = key_of(x[i]);
            if ((k & high) == prefix) atomicAdd(&hist[(k >> shift) & 255], 1u);
        }
        __syncthreads();
        if (tid == 0) {
            int need = s_need, d = 255;
            while (d > 0 && (int)(unsigned short)hist[d] < need) need -= (unsigned short)hist[d--];
            s_need = need;
            s_prefix |= (uint32_t)d << shift;
        }
        __syncthreads();
    }

    // everything above it, and as many equal ones as are needed
    const uint32_t kth = s_prefix;
    const int need = s_need;
    for (int i = tid; i < V; i += BLOCK) {
        uint32_t k = key_of(x[i]);
        if (k > kth) {
            int at = atomicAdd(&s_above, 1);
            cv[at] = x[i];
            ci[at] = i;
        } else if (k == kth) {
            int at = atomicAdd(&s_equal, 1);
            if (at < need) {
                cv[K - need + at] = x[i];
                ci[K - need + at] = i;
            }
        }
    }
    __syncthreads();

    // odd-even transposition sort
    for (int round = 0; round < K; ++round) {
        for (int a = 2 * tid + (round & 1); a + 1 < K; a += 2 * BLOCK) {
            if (cv[a] < cv[a + 1]) {
                float v = cv[a]; cv[a] = cv[a + 1]; cv[a + 1] = v;
                int i = ci[a]; ci[a] = ci[a + 1]; ci[a + 1] = i;
            }
        }
        __syncthreads();
    }
    for (int k = tid; k < K; k += BLOCK) {
        out_i[(size_t)blockIdx.x * K + k] = ci[k];
        out_p[(size_t)blockIdx.x * K + k] = expf(cv[k] - m) / sum;
    }
}

extern "C" cudaError_t radix_softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K,
                                          cudaStream_t stream) {
    if (K < 1 || K > KMAX || K > V) return cudaErrorInvalidValue;
    radix_topk<<<rows, BLOCK, 0, stream>>>(logits, indices, probs, V, K);
    return cudaGetLastError();
}
