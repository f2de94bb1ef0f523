// right: one warp for each row, a template for as many logits a lane as the row needs, picked by its width
// only: rows_independent, topk_correct
#include <cuda_runtime.h>
#include <cfloat>
#include <climits>

constexpr int LANES = 32;

// Each lane holds COUNT logits of its row; a template for few of them knows nothing of longer rows.
template <int COUNT>
__global__ void one_warp(const float* logits, int* indices, float* weights, int rows, int V, int K) {
    const int row = blockIdx.x, lane = threadIdx.x;
    if (row >= rows) return;
    const float* in = logits + (size_t)row * V;
    float held[COUNT];
    bool gone[COUNT];
    float peak = -INFINITY;
    for (int c = 0; c < COUNT; ++c) {
        const int at = c * LANES + lane;
        held[c] = at < V ? in[at] : -INFINITY;
        gone[c] = at >= V;
        peak = fmaxf(peak, held[c]);
    }
    for (int step = LANES / 2; step; step /= 2) peak = fmaxf(peak, __shfl_xor_sync(~0u, peak, step));
    float total = 0.f;
    for (int c = 0; c < COUNT; ++c) total += gone[c] ? 0.f : expf(held[c] - peak);
    for (int step = LANES / 2; step; step /= 2) total += __shfl_xor_sync(~0u, total, step);
    for (int k = 0; k < K; ++k) {
        float best = -INFINITY;
        int where = INT_MAX;
        for (int c = 0; c < COUNT; ++c) {
            const int at = c * LANES + lane;
            if (!gone[c] && (held[c] > best || (held[c] == best && at < where))) {
                best = held[c];
                where = at;
            }
        }
        for (int step = LANES / 2; step; step /= 2) {
            const float other = __shfl_xor_sync(~0u, best, step);
            const int from = __shfl_xor_sync(~0u, where, step);
            if (other > best || (other == best && from < where)) {
                best = other;
                where = from;
            }
        }
        for (int c = 0; c < COUNT; ++c)
            if (c * LANES + lane == where) gone[c] = true;
        if (lane == 0) {
            indices[(size_t)row * K + k] = where == INT_MAX ? -1 : where;
            weights[(size_t)row * K + k] = where == INT_MAX ? 0.f : expf(best - peak) / total;
        }
    }
}

// Rows that no warp holds: the whole row again for each of the K, behind the one before.
__global__ void one_thread(const float* logits, int* indices, float* weights, int V, int K) {
    const float* in = logits + (size_t)blockIdx.x * V;
    float peak = -INFINITY, total = 0.f;
    for (int i = 0; i < V; ++i) peak = fmaxf(peak, in[i]);
    for (int i = 0; i < V; ++i) total += expf(in[i] - peak);
    float before = INFINITY;
    int last = -1;
    for (int k = 0; k < K; ++k) {
        float best = -INFINITY;
        int where = -1;
        for (int i = 0; i < V; ++i) {
            const bool behind = in[i] < before || (in[i] == before && i > last);
            if (behind && (where < 0 || in[i] > best)) {
                best = in[i];
                where = i;
            }
        }
        indices[(size_t)blockIdx.x * K + k] = where;
        weights[(size_t)blockIdx.x * K + k] = where < 0 ? 0.f : expf(best - peak) / total;
        before = best;
        last = where;
    }
}

template <int COUNT>
static void with_slots(const float* logits, int* indices, float* weights, int rows, int V, int K) {
    one_warp<COUNT><<<rows, LANES>>>(logits, indices, weights, rows, V, K);
}

void fused_softmax_topk(const float* logits, int* indices, float* weights, int rows, int V, int K) {
    const int slots = (V + LANES - 1) / LANES;
    if (slots <= 1) {
        with_slots<1>(logits, indices, weights, rows, V, K);
    } else if (slots <= 8) {
        with_slots<8>(logits, indices, weights, rows, V, K);
    } else if (slots <= 24) {
        with_slots<24>(logits, indices, weights, rows, V, K);
    } else {
        one_thread<<<rows, 1>>>(logits, indices, weights, V, K);
    }
}
