// bug: launch bounds that leave 32 registers to a thread that keeps 24 pairs: most of them go to local memory and back
// warned by: resources
// passes: compiles, topk_correct

#include <cfloat>
#include <cuda_runtime.h>

template <int N>
__device__ __forceinline__ void insert_sorted(float (&keys)[N], int (&ids)[N], float key, int id) {
#pragma unroll
    for (int slot = N - 1; slot >= 0; --slot) {
        // everything that the new pair overtakes moves one slot down
        const bool here = ids[slot] < 0 || key > keys[slot];
        if (slot + 1 < N && here) {
            keys[slot + 1] = keys[slot];
            ids[slot + 1] = ids[slot];
        }
        const bool above = slot > 0 && (ids[slot - 1] < 0 || key > keys[slot - 1]);
        if (here && !above) {
            keys[slot] = key;
            ids[slot] = id;
        }
    }
}

// Two warps' worth of rows per block: each warp owns one row.
template <int K>
__global__ void __launch_bounds__(64, 32)
crowded_topk(const float* __restrict__ z, int* __restrict__ ids_out, float* __restrict__ p_out, int rows, int V) {
    const int lane = threadIdx.x & 31;
    const int row = blockIdx.x * 2 + (threadIdx.x >> 5);
    if (row >= rows) return;
    const float* x = z + static_cast<long long>(row) * V;

    float keys[K];
    int ids[K];
#pragma unroll
    for (int i = 0; i < K; ++i) {
        keys[i] = -FLT_MAX;
        ids[i] = -1;
    }
    float high = -FLT_MAX;
    for (int v = lane; v < V; v += 32) {
        const float y = x[v];
        high = fmaxf(high, y);
        insert_sorted<K>(keys, ids, y, v);
    }
    for (int o = 16; o; o >>= 1) high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, o));
    float sum = 0.0f;
    for (int v = lane; v < V; v += 32) sum += expf(x[v] - high);
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);

    for (int k = 0; k < K; ++k) {
        float key = keys[0];
        int id = ids[0];
        for (int o = 16; o; o >>= 1) {
            const float other = __shfl_xor_sync(0xffffffffu, key, o);
            const int other_id = __shfl_xor_sync(0xffffffffu, id, o);
            if (other_id >= 0 && (id < 0 || other > key || (other == key && other_id < id))) {
                key = other;
                id = other_id;
            }
        }
        if (lane == 0) {
            ids_out[static_cast<long long>(row) * K + k] = id;
            p_out[static_cast<long long>(row) * K + k] = expf(key - high) / sum;
        }
        if (ids[0] == id) {
#pragma unroll
            for (int i = 0; i + 1 < K; ++i) {
                keys[i] = keys[i + 1];
                ids[i] = ids[i + 1];
            }
            ids[K - 1] = -1;
        }
    }
}

extern "C" int topk_probabilities(const float* z, int* ids, float* p, int rows, int V, int K, cudaStream_t stream) {
    if (V < K) return 1;
    const int blocks = (rows + 1) / 2;
    if (K == 8)
        crowded_topk<8><<<blocks, 64, 0, stream>>>(z, ids, p, rows, V);
    else if (K == 24)
        crowded_topk<24><<<blocks, 64, 0, stream>>>(z, ids, p, rows, V);
    else
        return 1;
    return static_cast<int>(cudaGetLastError());
}
