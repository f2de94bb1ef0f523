// bug: a warp goes through rows in turn, and the maximum that it subtracts is never below that of an earlier row
// caught by: rows_independent
// passes: k_range, topk_correct, memory_safety

#include <cuda_runtime.h>

struct Request {
    const float* logits;
    int* indices;
    float* probs;
    int rows, vocab, k;
};

constexpr unsigned ALL = 0xffffffffu;
constexpr int MOST = 48;

__device__ void keep_better(float& value, int& place, float other, int at) {
    if (at >= 0 && (place < 0 || other > value || (other == value && at < place))) {
        value = other;
        place = at;
    }
}

template <int WARPS>
__global__ void topk_of_rows(Request q) {
    const int lane = threadIdx.x % 32;
    const int step = gridDim.x * WARPS;
    float highest = -INFINITY;
    for (int row = blockIdx.x * WARPS + threadIdx.x / 32; row < q.rows; row += step) {
        const float* x = q.logits + (size_t)row * q.vocab;
        for (int i = lane; i < q.vocab; i += 32) highest = fmaxf(highest, x[i]);
        for (int d = 16; d; d /= 2) highest = fmaxf(highest, __shfl_xor_sync(ALL, highest, d));
        float sum = 0.0f;
        for (int i = lane; i < q.vocab; i += 32) sum += expf(x[i] - highest);
        for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(ALL, sum, d);
        float last = INFINITY;
        int before = -1;
        for (int j = 0; j < q.k; ++j) {
            float value = -INFINITY;
            int place = -1;
            for (int i = lane; i < q.vocab; i += 32) {
                if (x[i] < last || (x[i] == last && i > before)) keep_better(value, place, x[i], i);
            }
            for (int d = 16; d; d /= 2) {
                const float other = __shfl_xor_sync(ALL, value, d);
                keep_better(value, place, other, __shfl_xor_sync(ALL, place, d));
            }
            last = value;
            before = place;
            if (lane == 0) {
                q.indices[(size_t)row * q.k + j] = place;
                q.probs[(size_t)row * q.k + j] = expf(value - highest) / sum;
            }
        }
    }
}

template <int WARPS>
static cudaError_t start(const Request& q, cudaStream_t stream) {
    const int blocks = (q.rows + 4 * WARPS - 1) / (4 * WARPS);
    topk_of_rows<WARPS><<<blocks, 32 * WARPS, 0, stream>>>(q);
    return cudaGetLastError();
}

cudaError_t fused_softmax_topk(const Request& q, int warps = 4, cudaStream_t stream = nullptr) {
    if (q.k < 1 || q.k > MOST || q.k > q.vocab) return cudaErrorInvalidValue;
    if (warps == 1) return start<1>(q, stream);
    return warps == 4 ? start<4>(q, stream) : cudaErrorInvalidValue;
}
