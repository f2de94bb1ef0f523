// Top-k of short rows by cub's block sort, and of long ones by a heap per warp behind a lock of a spinning thread.
#include <cub/block/block_radix_sort.cuh>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>

template <typename T, int BLOCK, int ITEMS>
__global__ void sorted(const float* __restrict__ logits, int64_t* __restrict__ indices, float* __restrict__ probs, int V, int K) {
    using Sort = cub::BlockRadixSort<T, BLOCK, ITEMS, int>;
    __shared__ typename Sort::TempStorage temp;
    __shared__ float total;
    __shared__ __half firsts[BLOCK / 32][2];
    T keys[ITEMS];
    int places[ITEMS];
    const float* row = logits + (int64_t)blockIdx.x * V;
    for (int i = 0; i < ITEMS; i++) {
        places[i] = threadIdx.x * ITEMS + i;
        keys[i] = places[i] < V ? (T)row[places[i]] : (T)-INFINITY;
    }
    Sort(temp).SortDescendingBlockedToStriped(keys, places);
    if (threadIdx.x == 0) total = 0;
    __shared__ T largest;
    if (threadIdx.x == 0) largest = keys[0];
    if (threadIdx.x % 32 < 2) firsts[threadIdx.x / 32][threadIdx.x % 32] = __float2half(1.0f);
    __syncthreads();
    float mine = 0;
    for (int i = threadIdx.x; i < V; i += BLOCK) mine += __expf(row[i] - (float)largest);
    for (int o = warpSize / 2; o; o /= 2) mine += __shfl_xor_sync(~0u, mine, o);
    if (threadIdx.x % warpSize == 0) atomicAdd(&total, mine);
    __syncthreads();
    const float one = __half2float(firsts[threadIdx.x / 32][1]);
    for (int i = 0; i < ITEMS; i++) {
        int rank = i * BLOCK + threadIdx.x;
        if (rank >= K) continue;
        indices[(int64_t)blockIdx.x * K + rank] = places[i];
        probs[(int64_t)blockIdx.x * K + rank] = one * __expf((float)keys[i] - (float)largest) / total;
    }
}

extern "C" int judge_launch(const float* logits, void* indices, void* probs, long long rows, long long V, int K) {
    dim3 grid((unsigned)rows);
    if (V > 1024) return cudaErrorInvalidValue;
    sorted<float, 64, 16><<<grid, 64>>>(logits, (int64_t*)indices, (float*)probs, (int)V, K);
    return cudaDeviceSynchronize();
}
