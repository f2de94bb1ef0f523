// bug: a block that goes on to a further row does not begin its maximum and sum anew
// caught by: rows_independent
// passes: topk_correct
// Fused softmax + top-k: one block per row, one pass, a sorted list per thread.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdint.h>

constexpr int THREADS = 128;
constexpr int WARPS = THREADS / 32;
constexpr int KMAX = 16;
constexpr unsigned FULL = 0xffffffffu;

struct List {
    float v[KMAX];
    int i[KMAX];
};

__device__ __forceinline__ bool better(float a, int ia, float b, int ib) {
    return a > b || (a == b && ia < ib);
}

__device__ __forceinline__ void push(List& l, int K, float v, int i) {
    if (!better(v, i, l.v[K - 1], l.i[K - 1])) return;
    int p = K - 1;
    while (p > 0 && better(v, i, l.v[p - 1], l.i[p - 1])) {
        l.v[p] = l.v[p - 1];
        l.i[p] = l.i[p - 1];
        --p;
    }
    l.v[p] = v;
    l.i[p] = i;
}

__device__ __forceinline__ void take(float& m, float& s, List& l, int K, float x, int i) {
    if (x > m) {
        s = s * expf(m - x) + 1.0f;
        m = x;
    } else if (x > -INFINITY) {
        s += expf(x - m);
    }
    push(l, K, x, i);
}

__global__ void topk_rows(const float* __restrict__ logits, int* __restrict__ idx, float* __restrict__ prob,
                          int rows, int V, int K) {
    __shared__ float sv[WARPS * KMAX];
    __shared__ int si[WARPS * KMAX];
    __shared__ float sm[WARPS], ss[WARPS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

    float m = -INFINITY, s = 0.0f;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* x = logits + (size_t)row * V;
        List l;
        for (int k = 0; k < KMAX; ++k) { l.v[k] = -INFINITY; l.i[k] = INT32_MAX; }

        // head up to a 16-byte boundary, then float4, then the tail
        int head = (int)((16 - ((uintptr_t)x & 15)) & 15) / 4;
        if (head > V) head = V;
        for (int i = threadIdx.x; i < head; i += THREADS) take(m, s, l, K, x[i], i);
        const int quads = (V - head) / 4;
        const float4* x4 = reinterpret_cast<const float4*>(x + head);
        for (int q = threadIdx.x; q < quads; q += THREADS) {
            float4 t = x4[q];
            int b = head + 4 * q;
            take(m, s, l, K, t.x, b);
            take(m, s, l, K, t.y, b + 1);
            take(m, s, l, K, t.z, b + 2);
            take(m, s, l, K, t.w, b + 3);
        }
        for (int i = head + 4 * quads + threadIdx.x; i < V; i += THREADS) take(m, s, l, K, x[i], i);

        // statistics over the block
        for (int off = 16; off > 0; off >>= 1) {
            float om = __shfl_xor_sync(FULL, m, off), os = __shfl_xor_sync(FULL, s, off);
            float nm = fmaxf(m, om);
            if (nm > -INFINITY) s = s * expf(m - nm) + os * expf(om - nm);
            m = nm;
        }
        if (lane == 0) { sm[warp] = m; ss[warp] = s; }

        // lists of a warp: K rounds, the best head wins
        int at = 0;
        for (int k = 0; k < K; ++k) {
            float bv = at < K ? l.v[at] : -INFINITY;
            int bi = at < K ? l.i[at] : INT32_MAX;
            float v = bv;
            int i = bi;
            for (int off = 16; off > 0; off >>= 1) {
                float ov = __shfl_xor_sync(FULL, v, off);
                int oi = __shfl_xor_sync(FULL, i, off);
                if (better(ov, oi, v, i)) { v = ov; i = oi; }
            }
            if (i == bi) ++at;
            if (lane == 0) { sv[warp * KMAX + k] = v; si[warp * KMAX + k] = i; }
        }
        __syncthreads();

        if (warp == 0) {
            float M = -INFINITY, S = 0.0f;
            for (int w = 0; w < WARPS; ++w) M = fmaxf(M, sm[w]);
            for (int w = 0; w < WARPS; ++w) S += ss[w] > 0.0f ? ss[w] * expf(sm[w] - M) : 0.0f;
            int cur = 0;
            for (int k = 0; k < K; ++k) {
                float bv = lane < WARPS && cur < K ? sv[lane * KMAX + cur] : -INFINITY;
                int bi = lane < WARPS && cur < K ? si[lane * KMAX + cur] : INT32_MAX;
                float v = bv;
                int i = bi;
                for (int off = 16; off > 0; off >>= 1) {
                    float ov = __shfl_xor_sync(FULL, v, off);
                    int oi = __shfl_xor_sync(FULL, i, off);
                    if (better(ov, oi, v, i)) { v = ov; i = oi; }
                }
                if (lane < WARPS && i == bi) ++cur;
                if (lane == 0) {
                    idx[(size_t)row * K + k] = i;
                    prob[(size_t)row * K + k] = expf(v - M) / S;
                }
            }
        }
        __syncthreads();
    }
}

extern "C" cudaError_t softmax_topk(const float* logits, int* indices, float* probs, int B, int T, int V, int K,
                                    cudaStream_t stream) {
    if (K < 1 || K > KMAX || K > V) return cudaErrorInvalidValue;
    int rows = B * T;
    int grid = rows < 64 ? rows : 64;
    topk_rows<<<grid, THREADS, 0, stream>>>(logits, indices, probs, rows, V, K);
    return cudaGetLastError();
}
