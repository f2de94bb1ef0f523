// bug: rows are taken to begin at multiples of four logits, as if they were padded: right while V is a multiple of 4
// caught by: rows_independent
// passes: topk_correct

#include <cuda_runtime.h>

namespace {

constexpr int kWarp = 32;
constexpr int kRows = 2;  // rows per block

struct Best {
    float x;
    int at;
    __device__ bool before(const Best& other) const { return x > other.x || (x == other.x && at < other.at); }
};

__device__ Best exchanged(Best b, int lane_mask) {
    return {__shfl_xor_sync(0xffffffffu, b.x, lane_mask), __shfl_xor_sync(0xffffffffu, b.at, lane_mask)};
}

template <int PER_LANE>
__global__ void lists_in_registers(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    const int lane = threadIdx.x;
    const int row = blockIdx.x * kRows + threadIdx.y;
    if (row >= rows) return;
    const int leading = (V + 3) / 4 * 4;
    const float* x = logits + static_cast<size_t>(row) * leading;

    Best held[PER_LANE];
    for (int i = 0; i < PER_LANE; ++i) held[i] = {-INFINITY, 0x7fffffff};
    float m = -1e38f, d = 0.0f;
    for (int v = lane; v < V; v += kWarp) {
        Best next{x[v], v};
        const float up = fmaxf(m, next.x);
        d = d * expf(m - up) + expf(next.x - up);
        m = up;
        for (int i = 0; i < PER_LANE; ++i)
            if (next.before(held[i])) {
                const Best pushed = held[i];
                held[i] = next;
                next = pushed;
            }
    }
    for (int mask = 1; mask < kWarp; mask *= 2) {
        const float m2 = __shfl_xor_sync(0xffffffffu, m, mask);
        const float d2 = __shfl_xor_sync(0xffffffffu, d, mask);
        const float up = fmaxf(m, m2);
        d = d * expf(m - up) + d2 * expf(m2 - up);
        m = up;
    }
    int head = 0;
    for (int k = 0; k < K; ++k) {
        const Best mine = head < PER_LANE ? held[head] : Best{-INFINITY, 0x7fffffff};
        Best top = mine;
        for (int mask = 1; mask < kWarp; mask *= 2) {
            const Best other = exchanged(top, mask);
            if (other.before(top)) top = other;
        }
        if (top.at == mine.at) ++head;
        if (lane == 0) {
            indices[static_cast<size_t>(row) * K + k] = top.at;
            probs[static_cast<size_t>(row) * K + k] = expf(top.x - m) / d;
        }
    }
}

}  // namespace

cudaError_t topk_rows(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream) {
    if (K < 1 || K > 32 || K > V) return cudaErrorInvalidValue;
    lists_in_registers<32><<<(rows + kRows - 1) / kRows, dim3(kWarp, kRows), 0, stream>>>(logits, indices, probs, rows,
                                                                                         V, K);
    return cudaGetLastError();
}
