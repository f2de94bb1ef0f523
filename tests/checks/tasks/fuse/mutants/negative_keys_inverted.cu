// bug: the keys of negative logits keep their order by size, so the smallest comes first
// caught by: k_range, numerics
/*
 * Fused softmax + top-k, split along the vocabulary (flash-decoding style), for decode-time shapes where B*T is
 * small and one block per row would leave most of the chip idle.
 *
 *   stage 1  grid (slices, rows): a block loads one slice of 4096 logits, reduces (max, sum of exponentials), sorts
 *            the slice in shared memory and writes its K best keys to the workspace.
 *   stage 2  grid (rows): merges the slices' statistics and candidate lists, gathers the logits of the winners and
 *            writes probabilities.
 *
 * Logits are read once (plus K gathered values); the workspace is slices * (K keys + 2 floats) per row, i.e. at most
 * 1/16 of the logits for K <= 128.  Nothing of size V is ever written to global memory.
 */
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

#define SLICE 4096
#define THREADS 512
#define MAX_K 128

typedef uint64_t ranked_t;  /* radix image of the logit in the high word, complemented column in the low word */

struct Workspace {
    ranked_t* best;  /* [rows][slices][k] */
    float2* stat;    /* [rows][slices]: x = max, y = sum exp(logit - max) */
};

/* Monotone map float -> uint32: flip the sign bit of positives, all bits of negatives. */
__device__ __forceinline__ uint32_t radix_image(float x)
{
    uint32_t bits = __float_as_uint(x);
    uint32_t mask = (bits >> 31) | 0x80000000u;
    return bits ^ mask;
}

__device__ __forceinline__ ranked_t rank_of(float x, int column)
{
    return ((ranked_t)radix_image(x) << 32) | (uint32_t)~column;
}

__device__ __forceinline__ int column_of(ranked_t r) { return (int)~(uint32_t)r; }

__device__ void bitonic_descending(ranked_t* a)
{
    for (int run = 2; run <= SLICE; run *= 2)
        for (int step = run / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < SLICE; i += THREADS) {
                int j = i ^ step;
                if (j > i) {
                    ranked_t lo = a[i], hi = a[j];
                    if ((i & run) ? lo > hi : lo < hi) { a[i] = hi; a[j] = lo; }
                }
            }
        }
    __syncthreads();
}

/* Block-wide maximum and sum through shared memory; every thread gets the result. */
__device__ float block_max(float v, float* tmp)
{
    tmp[threadIdx.x] = v;
    __syncthreads();
    for (int h = THREADS / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) tmp[threadIdx.x] = fmaxf(tmp[threadIdx.x], tmp[threadIdx.x + h]);
        __syncthreads();
    }
    float r = tmp[0];
    __syncthreads();
    return r;
}

__device__ float block_sum(float v, float* tmp)
{
    tmp[threadIdx.x] = v;
    __syncthreads();
    for (int h = THREADS / 2; h > 0; h /= 2) {
        if (threadIdx.x < h) tmp[threadIdx.x] += tmp[threadIdx.x + h];
        __syncthreads();
    }
    float r = tmp[0];
    __syncthreads();
    return r;
}

__global__ void __launch_bounds__(THREADS) slice_kernel(const float* __restrict__ logits, int V, int K, Workspace ws)
{
    __shared__ ranked_t keys[SLICE];
    __shared__ float tmp[THREADS];
    const int slices = gridDim.x, slice = blockIdx.x, first = slice * SLICE;
    const size_t row = blockIdx.y;
    const float* x = logits + row * V;

    float v[SLICE / THREADS], m = -INFINITY;
    for (int u = 0; u < SLICE / THREADS; ++u) {
        int i = u * THREADS + threadIdx.x, col = first + i;
        v[u] = col < V ? x[col] : -INFINITY;
        keys[i] = col < V ? rank_of(v[u], col) : 0;  /* 0 ranks below every logit */
        m = fmaxf(m, v[u]);
    }
    m = block_max(m, tmp);
    float s = 0.f;
    if (m > -INFINITY)
        for (int u = 0; u < SLICE / THREADS; ++u) s += expf(v[u] - m);
    s = block_sum(s, tmp);

    bitonic_descending(keys);
    for (int i = threadIdx.x; i < K; i += THREADS) ws.best[(row * slices + slice) * K + i] = keys[i];
    if (threadIdx.x == 0) ws.stat[row * slices + slice] = make_float2(m, s);
}

__global__ void __launch_bounds__(THREADS)
merge_kernel(const float* __restrict__ logits, int V, int K, int slices, Workspace ws, int32_t* ids, float* probs)
{
    __shared__ ranked_t keys[SLICE];
    __shared__ float tmp[THREADS];
    const size_t row = blockIdx.x;
    const ranked_t* cand = ws.best + row * slices * K;
    const float2* stat = ws.stat + row * slices;
    const int total = slices * K;

    float m = -INFINITY, s = 0.f;
    for (int i = threadIdx.x; i < slices; i += THREADS) m = fmaxf(m, stat[i].x);
    m = block_max(m, tmp);
    for (int i = threadIdx.x; i < slices; i += THREADS)
        if (stat[i].x > -INFINITY) s += stat[i].y * expf(stat[i].x - m);
    s = block_sum(s, tmp);

    /* keys[0, K) are the winners so far; the rest of the buffer is refilled until the candidates are used up */
    for (int i = threadIdx.x; i < K; i += THREADS) keys[i] = 0;
    for (int used = 0; used < total; used += SLICE - K) {
        for (int i = threadIdx.x; i < SLICE - K; i += THREADS) keys[K + i] = used + i < total ? cand[used + i] : 0;
        bitonic_descending(keys);
    }
    for (int i = threadIdx.x; i < K; i += THREADS) {
        int col = column_of(keys[i]);
        ids[row * K + i] = col;
        probs[row * K + i] = expf(logits[row * V + col] - m) / s;
    }
}

/* Bytes of device scratch that one call needs. */
size_t split_topk_workspace_bytes(int B, int T, int V, int K)
{
    size_t lists = (size_t)B * T * ((V + SLICE - 1) / SLICE);
    return lists * (K * sizeof(ranked_t) + sizeof(float2));
}

/* Shapes: logits (B,T,V), ids (B,T,K), probs (B,T,K). K is limited to min(V, 128), B*T to 65535. */
cudaError_t split_softmax_topk(const float* logits, int32_t* ids, float* probs, int K, int B, int T, int V)
{
    const int rows = B * T, slices = (V + SLICE - 1) / SLICE;
    if (K < 1 || K > MAX_K || K > V || rows < 1 || rows > 65535) return cudaErrorInvalidValue;
    char* scratch = NULL;
    cudaError_t e = cudaMalloc((void**)&scratch, split_topk_workspace_bytes(B, T, V, K));
    if (e != cudaSuccess) return e;
    Workspace ws;
    ws.best = (ranked_t*)scratch;
    ws.stat = (float2*)(scratch + (size_t)rows * slices * K * sizeof(ranked_t));
    slice_kernel<<<dim3(slices, rows), THREADS>>>(logits, V, K, ws);
    merge_kernel<<<rows, THREADS>>>(logits, V, K, slices, ws, ids, probs);
    e = cudaGetLastError();
    cudaError_t sync = cudaDeviceSynchronize();
    cudaFree(scratch);
    return e != cudaSuccess ? e : sync;
}

#ifdef SELF_TEST
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

int main()
{
    int bad = 0;
    std::mt19937 rng(1);
    const int shapes[][3] = {{1, 1000, 8}, {4, 4096, 10}, {3, 4097, 33}, {2, 50257, 64}, {2, 128256, 128}};
    for (auto& sh : shapes)
        for (float scale : {1.f, 30.f}) {
            int R = sh[0], V = sh[1], K = sh[2];
            std::normal_distribution<float> n(0.f, scale);
            std::vector<float> h((size_t)R * V), p((size_t)R * K);
            std::vector<int32_t> id((size_t)R * K);
            for (auto& v : h) v = n(rng);
            h[V - 1] = 6 * scale;  /* a winner in the last column */
            float *dx, *dp; int32_t* di;
            cudaMalloc(&dx, h.size() * 4); cudaMalloc(&dp, p.size() * 4); cudaMalloc(&di, id.size() * 4);
            cudaMemcpy(dx, h.data(), h.size() * 4, cudaMemcpyHostToDevice);
            bad += split_softmax_topk(dx, di, dp, K, 1, R, V) != cudaSuccess;
            cudaMemcpy(p.data(), dp, p.size() * 4, cudaMemcpyDeviceToHost);
            cudaMemcpy(id.data(), di, id.size() * 4, cudaMemcpyDeviceToHost);
            for (int r = 0; r < R; ++r) {
                std::vector<float> s(h.begin() + (size_t)r * V, h.begin() + (size_t)(r + 1) * V), raw(s);
                std::sort(s.rbegin(), s.rend());
                double z = 0;
                for (float v : s) z += exp((double)v - s[0]);
                for (int j = 0; j < K; ++j)
                    bad += raw[id[r * K + j]] != s[j] || fabs(p[r * K + j] * z / exp((double)s[j] - s[0]) - 1) > 2e-5;
            }
            cudaFree(dx); cudaFree(dp); cudaFree(di);
        }
    printf(bad ? "%d mismatches\n" : "all shapes ok\n", bad);
    return bad != 0;
}
#endif
