// bug: eight lanes own a row, but the maximum and the sum travel over the whole warp: four rows share them
// caught by: rows_independent
// passes: compiles, topk_correct

#include <cfloat>
#include <cstdint>
#include <cuda_runtime.h>

namespace eighth {

constexpr int kLanes = 8;       // lanes per row
constexpr int kRows = 32 / kLanes;
constexpr int kDepth = 16;

struct Best {
    float key[kDepth];
    int32_t id[kDepth];
    int used;
};

__device__ void keep(Best& best, float key, int32_t id, int k) {
    int slot = best.used < k ? best.used++ : k - 1;
    if (slot == k - 1 && best.used == k && best.id[slot] >= 0 && !(key > best.key[slot])) return;
    for (; slot > 0 && key > best.key[slot - 1]; --slot) {
        best.key[slot] = best.key[slot - 1];
        best.id[slot] = best.id[slot - 1];
    }
    best.key[slot] = key;
    best.id[slot] = id;
}

__global__ void four_rows_per_warp(const float* __restrict__ logits, int32_t* __restrict__ topk_ids,
                                   float* __restrict__ topk_p, int num_rows, int vocab, int k) {
    const int sub = threadIdx.x % kLanes;
    const int row = blockIdx.x * kRows + threadIdx.x / kLanes;
    const bool live = row < num_rows;
    const float* x = logits + static_cast<int64_t>(live ? row : 0) * vocab;

    Best best;
    best.used = 0;
    for (int i = 0; i < kDepth; ++i) best.id[i] = -1;
    float m = -FLT_MAX;
    if (live)
        for (int v = sub; v < vocab; v += kLanes) {
            m = fmaxf(m, x[v]);
            keep(best, x[v], v, k);
        }
    // strides of 16 and 8 leave the row's own eight lanes
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, o));
    float s = 0.0f;
    if (live)
        for (int v = sub; v < vocab; v += kLanes) s += expf(x[v] - m);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);

    int head = 0;
    for (int rank = 0; rank < k; ++rank) {
        float key = head < best.used ? best.key[head] : -FLT_MAX;
        int32_t id = head < best.used ? best.id[head] : INT32_MAX;
        for (int o = kLanes / 2; o; o >>= 1) {
            const float other = __shfl_xor_sync(0xffffffffu, key, o);
            const int32_t other_id = __shfl_xor_sync(0xffffffffu, id, o);
            if (other > key || (other == key && other_id < id)) {
                key = other;
                id = other_id;
            }
        }
        if (head < best.used && best.id[head] == id) ++head;
        if (live && sub == 0) {
            topk_ids[static_cast<int64_t>(row) * k + rank] = id;
            topk_p[static_cast<int64_t>(row) * k + rank] = expf(key - m) / s;
        }
    }
}

}  // namespace eighth

cudaError_t fused_topk_softmax(const float* logits, int32_t* topk_ids, float* topk_p, int num_rows, int vocab, int k,
                               cudaStream_t stream) {
    if (k < 1 || k > eighth::kDepth || k > vocab) return cudaErrorInvalidValue;
    const int blocks = (num_rows + eighth::kRows - 1) / eighth::kRows;
    eighth::four_rows_per_warp<<<blocks, 32, 0, stream>>>(logits, topk_ids, topk_p, num_rows, vocab, k);
    return cudaGetLastError();
}
