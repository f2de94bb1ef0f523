// right: as in BLAS, the distance between rows stands behind each output
// only: rows_independent, topk_correct
// softmax_topk.cu -- one warp per row, one pass over V, everything in registers.
//
//   softmax_topk(logits, rows, V, ids, ldi, p, ldp, K, warps_per_block, stream)
//
// BLAS habits: rows = B*T; ldi and ldp are the distances (in elements) between consecutive
// rows of the two outputs, both >= K, so that a caller may keep rows padded to 32 or write
// into a wider table.  Only the first K entries of an output row are ever written.
// warps_per_block: 1, 2, 4 or 8; 0 lets the launcher choose.
// K up to 256: the list holds 32, 64, 128 or 256 entries, the best K of them are stored.
#include <cuda_runtime.h>
#include <cstdint>
#include "warp_topk.cuh"

enum SoftmaxTopkStatus { SOFTMAX_TOPK_OK = 0, SOFTMAX_TOPK_BAD_SHAPE = 1, SOFTMAX_TOPK_K_TOO_LARGE = 2,
                         SOFTMAX_TOPK_LAUNCH = 3 };

template <int R, int WARPS_PER_BLOCK>
__global__ void __launch_bounds__(32 * WARPS_PER_BLOCK)
softmax_topk_kernel(const float* __restrict__ logits, int rows, int V, int* __restrict__ ids, int ldi,
                    float* __restrict__ p, int ldp, int K) {
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * WARPS_PER_BLOCK + (threadIdx.x >> 5);
    if (row >= rows) return;                                 // a whole warp; there is no block barrier

    const float* x = logits + (size_t)row * V;
    WarpTopK<R> best;
    best.clear();
    OnlineSum z;
    float worst_v = -INFINITY;
    int worst_i = INT_MAX;

    // [0, head) up to the first 16-byte boundary, [head, body) as float4, [body, V) the rest
    int head = (int)((4 - (((uintptr_t)x >> 2) & 3)) & 3);
    if (head > V) head = V;
    const int quads = (V - head) >> 2;
    const int body = head + 4 * quads;

    {   // both ragged ends in one step: at most 3 + 3 elements
        int i = lane < head ? lane : body + (lane - head);
        const bool live = i < V;
        const float v = live ? x[i] : -INFINITY;
        z.add(v);
        best.offer(v, live ? i : INT_MAX, lane, worst_v, worst_i);
    }
    const float4* xq = reinterpret_cast<const float4*>(x + head);
    for (int q0 = 0; q0 < quads; q0 += 32) {
        const int q = q0 + lane;
        const bool live = q < quads;
        const float4 f = live ? xq[q] : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        const int i = head + 4 * q;
        z.add(f.x); z.add(f.y); z.add(f.z); z.add(f.w);
        best.offer(f.x, live ? i : INT_MAX, lane, worst_v, worst_i);
        best.offer(f.y, live ? i + 1 : INT_MAX, lane, worst_v, worst_i);
        best.offer(f.z, live ? i + 2 : INT_MAX, lane, worst_v, worst_i);
        best.offer(f.w, live ? i + 3 : INT_MAX, lane, worst_v, worst_i);
    }
    z.warp_reduce();
    const float total = (float)z.s;

#pragma unroll
    for (int r = 0; r < R; ++r) {
        const int k = r * 32 + lane;
        if (k < K) {
            ids[(size_t)row * ldi + k] = best.idx[r];
            p[(size_t)row * ldp + k] = expf(best.val[r] - z.m) / total;
        }
    }
}

template <int R, int W>
static void launch(const float* logits, int rows, int V, int* ids, int ldi, float* p, int ldp, int K, cudaStream_t st) {
    const int blocks = (rows + W - 1) / W;
    softmax_topk_kernel<R, W><<<blocks, 32 * W, 0, st>>>(logits, rows, V, ids, ldi, p, ldp, K);
}

template <int R>
static void pick_warps(int w, const float* logits, int rows, int V, int* ids, int ldi, float* p, int ldp, int K,
                       cudaStream_t st) {
    switch (w) {
        case 1: launch<R, 1>(logits, rows, V, ids, ldi, p, ldp, K, st); break;
        case 2: launch<R, 2>(logits, rows, V, ids, ldi, p, ldp, K, st); break;
        case 4: launch<R, 4>(logits, rows, V, ids, ldi, p, ldp, K, st); break;
        default: launch<R, 8>(logits, rows, V, ids, ldi, p, ldp, K, st); break;
    }
}

int softmax_topk(const float* logits, int rows, int V, int* ids, int ldi, float* p, int ldp, int K,
                 int warps_per_block = 0, cudaStream_t stream = 0) {
    if (rows < 0 || K < 1 || K > V || ldi < K || ldp < K) return SOFTMAX_TOPK_BAD_SHAPE;
    if (K > 256) return SOFTMAX_TOPK_K_TOO_LARGE;
    if (rows == 0) return SOFTMAX_TOPK_OK;
    int w = warps_per_block;
    if (w == 0) w = rows >= 1024 ? 4 : 1;                    // few rows: spread them over the SMs
    if (w != 1 && w != 2 && w != 4 && w != 8) return SOFTMAX_TOPK_BAD_SHAPE;

    if (K <= 32)       pick_warps<1>(w, logits, rows, V, ids, ldi, p, ldp, K, stream);
    else if (K <= 64)  pick_warps<2>(w, logits, rows, V, ids, ldi, p, ldp, K, stream);
    else if (K <= 128) pick_warps<4>(w, logits, rows, V, ids, ldi, p, ldp, K, stream);
    else               pick_warps<8>(w, logits, rows, V, ids, ldi, p, ldp, K, stream);
    return cudaGetLastError() == cudaSuccess ? SOFTMAX_TOPK_OK : SOFTMAX_TOPK_LAUNCH;
}
