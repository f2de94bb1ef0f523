// bug: two sorted lists are merged lane by lane, neither of them reversed, so that the larger of each place alone is kept
// caught by: topk_correct, numerics
// only: topk_correct, numerics
#include <cuda_runtime.h>
#include <math_constants.h>

static __device__ inline bool ahead(float a, int i, float b, int j) {
    if (a != b) return a > b;
    return i < j;
}

// Exchange with the lane at `distance`; keep the better entry if `keep_best`.
static __device__ inline void exchange(float& x, int& at, int distance, bool keep_best) {
    const float y = __shfl_xor_sync(0xffffffff, x, distance);
    const int y_at = __shfl_xor_sync(0xffffffff, at, distance);
    if (ahead(y, y_at, x, at) == keep_best) {
        x = y;
        at = y_at;
    }
}

// Sort the 32 lanes' entries, the best one in lane 0.
static __device__ void sort_warp(float& x, int& at, int lane) {
    for (int size = 2; size <= 32; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            const bool descending = (lane & size) == 0;
            exchange(x, at, distance, ((lane & distance) == 0) == descending);
        }
}

__global__ void topk_warp_per_row(const float* __restrict__ in, int* __restrict__ out_at, float* __restrict__ out_p,
                                  int rows, int n, int k) {
    const int lane = threadIdx.x;
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;  // whole warps leave; nothing below waits for other warps
    const float* x = in + (size_t)row * n;

    float best = -CUDART_INF_F;
    int best_at = 0x7fffffff;
    float top = -CUDART_INF_F, mass = 0.0f;

    for (int base = 0; base < n; base += 32) {
        const int j = base + lane;
        float y = j < n ? x[j] : -CUDART_INF_F;
        int y_at = j < n ? j : 0x7fffffff;
        if (y != -CUDART_INF_F) {
            if (y > top) {
                mass = mass * expf(top - y) + 1.0f;
                top = y;
            } else {
                mass += expf(y - top);
            }
        }
        const float bar = __shfl_sync(0xffffffff, best, 31);
        const int bar_at = __shfl_sync(0xffffffff, best_at, 31);
        if (__any_sync(0xffffffff, ahead(y, y_at, bar, bar_at))) {
            sort_warp(y, y_at, lane);
            // best is descending; reversed y is ascending: their maxima are the 32 best of 64, bitonic
            const float z = y;
            const int z_at = y_at;
            if (ahead(z, z_at, best, best_at)) {
                best = z;
                best_at = z_at;
            }
            for (int distance = 16; distance > 0; distance /= 2) exchange(best, best_at, distance, !(lane & distance));
        }
    }

    float all = top;
    for (int d = 16; d; d >>= 1) all = fmaxf(all, __shfl_xor_sync(0xffffffff, all, d));
    mass = mass > 0.0f ? mass * expf(top - all) : 0.0f;
    for (int d = 16; d; d >>= 1) mass += __shfl_xor_sync(0xffffffff, mass, d);

    if (lane < k) {
        out_at[(size_t)row * k + lane] = best_at;
        out_p[(size_t)row * k + lane] = expf(best - all) / mass;
    }
}

extern "C" cudaError_t launch_topk(const float* logits, int* indices, float* probs, int rows, int V, int K,
                                   cudaStream_t stream) {
    if (K < 1 || K > 32 || V < K) return cudaErrorInvalidValue;
    const dim3 block(32, 4);
    topk_warp_per_row<<<(rows + 3) / 4, block, 0, stream>>>(logits, indices, probs, rows, V, K);
    return cudaPeekAtLastError();
}
