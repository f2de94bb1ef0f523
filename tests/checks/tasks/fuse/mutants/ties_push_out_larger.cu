// bug: what equals the K-th logit is gathered under one counter with what is larger, and may take its place
// caught by: numerics
/*
 * radix_topk_softmax.cu
 *
 * Fused softmax + top-k for language-model logits, (B, T, V) -> indices, probabilities (B, T, K).
 *
 * Selection by radix: the K-th largest logit of the row is found digit by digit (11 + 11 + 10
 * bits of the order-preserving integer image of the float), so the cost does not depend on K.
 * The softmax normaliser rides along on the first sweep.  A last sweep gathers the survivors
 * and a bitonic network puts them in order.  No temporary of size V is ever written.
 *
 *   sweep 1: histogram of bits 31..21, running max and sum
 *   sweep 2: histogram of bits 20..10 of those in the chosen bin
 *   sweep 3: histogram of bits  9..0  of those in the chosen bin
 *   sweep 4: gather
 */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK 256
#define BINS 2048
#define TOPK_LIMIT 1024

typedef struct { float max; double sum; } softmax_acc;

__device__ __forceinline__ unsigned ordered_bits(float f) {
    unsigned u = __float_as_uint(f + 0.0f);                /* merges the two zeros */
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

__device__ __forceinline__ float from_ordered(unsigned o) {
    return __uint_as_float(o ^ ((o >> 31) ? 0x80000000u : 0xffffffffu));
}

__device__ __forceinline__ softmax_acc acc_merge(softmax_acc a, softmax_acc b) {
    softmax_acc c;
    c.max = fmaxf(a.max, b.max);
    c.sum = (a.sum > 0 ? a.sum * expf(a.max - c.max) : 0) + (b.sum > 0 ? b.sum * expf(b.max - c.max) : 0);
    return c;
}

/* The bin (from the top) in which the `want`-th largest lies; `want` becomes its rank inside. */
__device__ void choose_bin(const int* hist, int nbins, int* want, int* bin) {
    __shared__ int chunk[BLOCK];
    const int per = nbins / BLOCK, t = threadIdx.x;
    int s = 0;
    for (int j = 0; j < per; ++j) s += hist[nbins - 1 - (t * per + j)];
    chunk[t] = s;
    __syncthreads();
    if (t == 0) {
        int c = 0, left = *want;
        while (left > chunk[c]) left -= chunk[c++];
        int b = nbins - 1 - c * per;
        while (left > hist[b]) left -= hist[b--];
        *want = left;
        *bin = b;
    }
    __syncthreads();
}

__global__ void __launch_bounds__(BLOCK)
radix_topk_softmax_kernel(const float* __restrict__ logits, int* __restrict__ out_idx, float* __restrict__ out_prob,
                          int V, int K, int K2 /* K rounded up to a power of two */) {
    __shared__ int hist[BINS];
    __shared__ softmax_acc acc[BLOCK];
    __shared__ unsigned skey[TOPK_LIMIT];
    __shared__ int sidx[TOPK_LIMIT];
    __shared__ int want, bin, taken;

    const int t = threadIdx.x;
    const float* x = logits + (size_t)blockIdx.x * V;
    const int shift[3] = {21, 10, 0};
    const int width[3] = {11, 11, 10};

    if (t == 0) { want = K; taken = 0; }
    softmax_acc mine = {-INFINITY, 0.0};
    unsigned prefix = 0;

    for (int pass = 0; pass < 3; ++pass) {
        const int nbins = 1 << width[pass];
        for (int b = t; b < nbins; b += BLOCK) hist[b] = 0;
        __syncthreads();
        for (int v = t; v < V; v += BLOCK) {
            const float f = x[v];
            const unsigned o = ordered_bits(f);
            if (pass == 0) {
                softmax_acc one = {f, f == -INFINITY ? 0.0 : 1.0};
                mine = acc_merge(mine, one);
            } else if ((o >> (shift[pass] + width[pass])) != prefix) {
                continue;
            }
            atomicAdd(&hist[(o >> shift[pass]) & (nbins - 1)], 1);
        }
        __syncthreads();
        choose_bin(hist, nbins, &want, &bin);
        prefix = (prefix << width[pass]) | (unsigned)bin;
    }
    const unsigned kth = prefix;                            /* the K-th largest, all 32 bits */

    acc[t] = mine;
    for (int i = t; i < K2; i += BLOCK) { skey[i] = 0u; sidx[i] = -1; }
    __syncthreads();
    for (int h = BLOCK / 2; h > 0; h >>= 1) {
        if (t < h) acc[t] = acc_merge(acc[t], acc[t + h]);
        __syncthreads();
    }

    /* Everything from the K-th value up survives; the counter stops us at K entries. */
    for (int v = t; v < V; v += BLOCK) {
        const unsigned o = ordered_bits(x[v]);
        if (o >= kth) {
            const int slot = atomicAdd(&taken, 1);
            if (slot < K) { skey[slot] = o; sidx[slot] = v; }
        }
    }
    __syncthreads();

    for (int span = 2; span <= K2; span <<= 1) {
        for (int hop = span >> 1; hop > 0; hop >>= 1) {
            for (int i = t; i < K2; i += BLOCK) {
                const int j = i ^ hop;
                if (j > i) {
                    const bool before = skey[i] > skey[j] || (skey[i] == skey[j] && sidx[i] < sidx[j]);
                    if (before == ((i & span) != 0)) {
                        const unsigned k = skey[i]; skey[i] = skey[j]; skey[j] = k;
                        const int d = sidx[i]; sidx[i] = sidx[j]; sidx[j] = d;
                    }
                }
            }
            __syncthreads();
        }
    }

    const size_t o0 = (size_t)blockIdx.x * K;
    const float m = acc[0].max, inv = (float)(1.0 / acc[0].sum);
    for (int k = t; k < K; k += BLOCK) {
        out_idx[o0 + k] = sidx[k];
        out_prob[o0 + k] = expf(from_ordered(skey[k]) - m) * inv;
    }
}

extern "C" int radix_topk_softmax(const float* d_logits, int batch, int seq, int vocab, int k,
                                  int* d_indices, float* d_probs, cudaStream_t stream) {
    if (k < 1 || k > vocab || k > TOPK_LIMIT) return -1;
    if (batch * seq == 0) return 0;
    int k2 = 1;
    while (k2 < k) k2 <<= 1;
    radix_topk_softmax_kernel<<<batch * seq, BLOCK, 0, stream>>>(d_logits, d_indices, d_probs, vocab, k, k2);
    return (int)cudaGetLastError();
}

#ifdef RADIX_TOPK_TEST
/* nvcc -DRADIX_TOPK_TEST radix_topk_softmax.cu && ./a.out */
static int compare_desc(const void* a, const void* b) {
    const float x = *(const float*)a, y = *(const float*)b;
    return (x < y) - (x > y);
}

static int run_case(int rows, int V, int K, float shift, float scale) {
    float *x, *p; int* idx, errors = 0;
    cudaMallocManaged((void**)&x, sizeof(float) * rows * V);
    cudaMallocManaged((void**)&p, sizeof(float) * rows * K);
    cudaMallocManaged((void**)&idx, sizeof(int) * rows * K);
    for (int i = 0; i < rows * V; ++i) x[i] = shift + scale * (rand() / (float)RAND_MAX - 0.5f);
    if (scale > 20.f) x[V / 2] = -INFINITY;
    errors += radix_topk_softmax(x, 1, rows, V, K, idx, p, 0) != 0;
    cudaDeviceSynchronize();
    float* s = (float*)malloc(sizeof(float) * V);
    for (int r = 0; r < rows; ++r) {
        for (int v = 0; v < V; ++v) s[v] = x[r * V + v];
        qsort(s, V, sizeof(float), compare_desc);
        double z = 0;
        for (int v = 0; v < V; ++v) z += exp((double)s[v] - s[0]);
        for (int k = 0; k < K; ++k) {
            const double want = exp((double)s[k] - s[0]) / z;
            errors += x[r * V + idx[r * K + k]] != s[k];
            errors += fabs(p[r * K + k] - want) > 1e-5 * want + 1e-30;
        }
    }
    printf("rows %d V %d K %d shift %g scale %g: %d errors\n", rows, V, K, shift, scale, errors);
    free(s); cudaFree(x); cudaFree(p); cudaFree(idx);
    return errors;
}

int main(void) {
    int e = 0;
    e += run_case(5, 1000, 10, 0.f, 10.f);
    e += run_case(3, 50257, 50, 0.f, 30.f);
    e += run_case(2, 777, 256, 100.f, 16.f);
    e += run_case(4, 64, 64, 0.f, 4.f);
    return e != 0;
}
#endif
