// bug: terms below the machine epsilon of the largest are left out of the sum, and at V = 50257 there are many
// caught by: numerics
// passes: k_range

#include <cuda_runtime.h>
#include <math.h>
#include <limits.h>

#define FULL_MASK 0xffffffffu

namespace {

// ln(FLT_EPSILON).  The denominator is at least 1 (the maximum contributes exp(0)); a term below
// FLT_EPSILON cannot change a float that is at least 1, so sweep 2 does not spend an exp on it.
constexpr float LN_FLT_EPSILON = -15.942385f;

// Larger logit first; among equal logits the smaller index.  An empty slot is (-inf, INT_MAX):
// it loses even against a real -inf.
__device__ __forceinline__ bool ahead(float x, int i, float y, int j) {
    return x > y || (x == y && i < j);
}

template <int CAP>
struct LaneList {
    float val[CAP];
    int   idx[CAP];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int s = 0; s < CAP; ++s) { val[s] = -INFINITY; idx[s] = INT_MAX; }
    }

    __device__ __forceinline__ void offer(float x, int i) {
        if (!ahead(x, i, val[CAP - 1], idx[CAP - 1])) return;
        val[CAP - 1] = x;
        idx[CAP - 1] = i;
#pragma unroll
        for (int s = CAP - 1; s > 0; --s) {
            if (ahead(val[s], idx[s], val[s - 1], idx[s - 1])) {
                float tv = val[s]; val[s] = val[s - 1]; val[s - 1] = tv;
                int   ti = idx[s]; idx[s] = idx[s - 1]; idx[s - 1] = ti;
            }
        }
    }

    __device__ __forceinline__ void pop() {
#pragma unroll
        for (int s = 0; s + 1 < CAP; ++s) { val[s] = val[s + 1]; idx[s] = idx[s + 1]; }
        val[CAP - 1] = -INFINITY;
        idx[CAP - 1] = INT_MAX;
    }
};

template <int CAP, int WARPS>
__global__ void __launch_bounds__(WARPS * 32)
softmax_topk_kernel(const float* __restrict__ logits, int* __restrict__ indices,
                    float* __restrict__ probs, int rows, int V, int k) {
    const int lane = threadIdx.x & 31;
    const int row  = blockIdx.x * WARPS + (threadIdx.x >> 5);
    if (row >= rows) return;                       // uniform within the warp; there is no block barrier
    const float* __restrict__ x = logits + (size_t)row * V;

    // ---- sweep 1: candidates
    LaneList<CAP> mine;
    mine.clear();
    for (int i = lane; i < V; i += 32) mine.offer(x[i], i);

    // ---- merge; lane r & 31 remembers the result of round r
    float keep_v[(CAP + 31) / 32];
    int   keep_i[(CAP + 31) / 32];
    float top = 0.f;
#pragma unroll
    for (int r = 0; r < CAP; ++r) {
        if (r < k) {
            float bv = mine.val[0];
            int   bi = mine.idx[0];
#pragma unroll
            for (int d = 16; d > 0; d >>= 1) {
                float ov = __shfl_xor_sync(FULL_MASK, bv, d);
                int   oi = __shfl_xor_sync(FULL_MASK, bi, d);
                if (ahead(ov, oi, bv, bi)) { bv = ov; bi = oi; }
            }
            if (mine.idx[0] == bi) mine.pop();
            if (r == 0) top = bv;
            if (lane == (r & 31)) { keep_v[r / 32] = bv; keep_i[r / 32] = bi; }
        }
    }

    // ---- sweep 2: denominator, compensated (Kahan) because a lane adds thousands of terms
    float sum = 0.f, lost = 0.f;
    for (int i = lane; i < V; i += 32) {
        const float d = x[i] - top;
        if (d > LN_FLT_EPSILON) {                  // also drops -inf
            const float t = expf(d) - lost;
            const float u = sum + t;
            lost = (u - sum) - t;
            sum = u;
        }
    }
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(FULL_MASK, sum, d);

    // exp(x - top) / sum, and not exp(x - (top + log(sum))): at an offset of 1e4 the latter is off by 1e-3.
#pragma unroll
    for (int c = 0; c < (CAP + 31) / 32; ++c) {
        const int r = c * 32 + lane;
        if (r < k) {
            indices[(size_t)row * k + r] = keep_i[c];
            probs[(size_t)row * k + r]   = expf(keep_v[c] - top) / sum;
        }
    }
}

template <int CAP>
cudaError_t launch(const float* logits, int* indices, float* probs, int rows, int V, int k, cudaStream_t stream) {
    constexpr int WARPS = 4;
    softmax_topk_kernel<CAP, WARPS><<<(rows + WARPS - 1) / WARPS, WARPS * 32, 0, stream>>>(logits, indices, probs, rows, V, k);
    return cudaGetLastError();
}

}  // namespace

// Any 1 <= k <= min(V, 64).  Device pointers; asynchronous on `stream`.
cudaError_t softmax_topk(const float* logits, int* indices, float* probs,
                         int B, int T, int V, int k, cudaStream_t stream = 0) {
    if (k < 1 || k > V || k > 64) return cudaErrorInvalidValue;
    const int rows = B * T;
    if (rows == 0) return cudaSuccess;
    if (k <= 4)  return launch<4>(logits, indices, probs, rows, V, k, stream);
    if (k <= 16) return launch<16>(logits, indices, probs, rows, V, k, stream);
    if (k <= 32) return launch<32>(logits, indices, probs, rows, V, k, stream);
    return launch<64>(logits, indices, probs, rows, V, k, stream);
}
