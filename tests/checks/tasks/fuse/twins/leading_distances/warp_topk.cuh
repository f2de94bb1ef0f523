// warp_topk.cuh -- a sorted list of 32*R (value, index) pairs spread over the lanes of a warp.
//
// Entry number r*32 + lane lives in register r of that lane; entry 0 is the best one.
#pragma once
#include <climits>
#include <cmath>

#define TOPK_FULL_MASK 0xffffffffu

// Strict total order: larger value first, on equal values the smaller index.
__device__ __forceinline__ bool beats(float va, int ia, float vb, int ib) {
    return va > vb || (va == vb && ia < ib);
}

template <int R>
struct WarpTopK {
    float val[R];
    int idx[R];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int r = 0; r < R; ++r) { val[r] = -INFINITY; idx[r] = INT_MAX; }   // loses to every real entry
    }

    // Insert one pair, the same in all lanes; what falls off the end is dropped.
    __device__ __forceinline__ void insert(float v, int i, int lane) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            const unsigned behind = __ballot_sync(TOPK_FULL_MASK, beats(v, i, val[r], idx[r]));
            if (behind == 0) continue;                       // belongs further down
            const int pos = __ffs(behind) - 1;               // sorted: lanes pos..31 move one up
            const float last_v = __shfl_sync(TOPK_FULL_MASK, val[r], 31);
            const int last_i = __shfl_sync(TOPK_FULL_MASK, idx[r], 31);
            const float up_v = __shfl_up_sync(TOPK_FULL_MASK, val[r], 1);
            const int up_i = __shfl_up_sync(TOPK_FULL_MASK, idx[r], 1);
            if (lane > pos) { val[r] = up_v; idx[r] = up_i; }
            else if (lane == pos) { val[r] = v; idx[r] = i; }
            v = last_v;                                      // carried into the next register row
            i = last_i;
        }
    }

    // Every lane offers one pair.  `worst` is entry number 32*R-1, kept by all lanes.
    __device__ __forceinline__ void offer(float v, int i, int lane, float& worst_v, int& worst_i) {
        unsigned todo = __ballot_sync(TOPK_FULL_MASK, beats(v, i, worst_v, worst_i));
        if (todo == 0) return;
        while (todo) {
            const int src = __ffs(todo) - 1;
            todo &= todo - 1;
            insert(__shfl_sync(TOPK_FULL_MASK, v, src), __shfl_sync(TOPK_FULL_MASK, i, src), lane);
        }
        worst_v = __shfl_sync(TOPK_FULL_MASK, val[R - 1], 31);
        worst_i = __shfl_sync(TOPK_FULL_MASK, idx[R - 1], 31);
    }
};

// Sum of exp(x - m) with a running maximum.  -inf adds nothing.
struct OnlineSum {
    float m = -INFINITY;
    double s = 0.0;                      // thousands of like-signed terms per lane

    __device__ __forceinline__ void add(float x) {
        if (x == -INFINITY) return;
        const float top = fmaxf(m, x);
        s = s * expf(m - top) + expf(x - top);
        m = top;
    }
    __device__ __forceinline__ void warp_reduce() {
#pragma unroll
        for (int d = 16; d; d >>= 1) {
            const float om = __shfl_xor_sync(TOPK_FULL_MASK, m, d);
            const double os = __shfl_xor_sync(TOPK_FULL_MASK, s, d);
            const float top = fmaxf(m, om);
            const double a = m == -INFINITY ? 0.0 : s * expf(m - top);
            const double b = om == -INFINITY ? 0.0 : os * expf(om - top);
            s = a + b;
            m = top;
        }
    }
};
