// Softmax over tiles that are copied ahead into two buffers, each tile in another of the three ways to ask for it;
// then the top k in rounds.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdint>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;
constexpr int THREADS = 64, TILE = 128;

__device__ void copy_by_ptx(float* to, const float* from, int kept) {
    uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(shared), "l"(from), "n"(4), "r"(kept));
}

// One batch of each thread, whichever way.
__device__ void stage(cg::thread_block block, float* buffer, const float* row, int tile, int V) {
    const int first = tile * TILE, count = min(TILE, V - first);
    if (count <= 0) {
        __pipeline_commit();
    } else if (tile % 3 == 0) {
        for (int i = threadIdx.x; i < TILE; i += THREADS)
            __pipeline_memcpy_async(buffer + i, row + (i < count ? first + i : 0), sizeof(float), i < count ? 0 : sizeof(float));
        __pipeline_commit();
    } else if (tile % 3 == 1) {
        cg::memcpy_async(block, buffer, row + first, count * sizeof(float));
    } else {
        for (int i = threadIdx.x; i < TILE; i += THREADS) copy_by_ptx(buffer + i, row + (i < count ? first + i : 0), i < count ? 4 : 0);
        asm volatile("cp.async.commit_group;\n" ::);
    }
}

__global__ void topk(const float* logits, int* indices, float* probs, int V, int K) {
    extern __shared__ __align__(16) float ahead[];
    __shared__ float still[TILE], maxima[THREADS], sums[THREADS];
    __shared__ int places[THREADS];
    float* buffers[2] = {still, ahead};
    cg::thread_block block = cg::this_thread_block();
    const float* row = logits + (size_t)blockIdx.x * V;
    const int t = threadIdx.x, tiles = (V + TILE - 1) / TILE;

    float m = -INFINITY, z = 0;
    stage(block, buffers[0], row, 0, V);
    for (int tile = 0; tile < tiles; tile++) {
        stage(block, buffers[(tile + 1) % 2], row, tile + 1, V);
        if (tile % 2)
            __pipeline_wait_prior(1);
        else
            asm volatile("cp.async.wait_group 1;\n" ::);
        __syncthreads();
        for (int i = t; i < min(TILE, V - tile * TILE); i += THREADS) {
            const float x = buffers[tile % 2][i], top = fmaxf(m, x);
            z = z * expf(m - top) + expf(x - top);
            m = top;
        }
        __syncthreads();
    }
    asm volatile("cp.async.wait_all;\n" ::);
    maxima[t] = m;
    sums[t] = z;
    __syncthreads();
    float top = maxima[0], total = 0;
    for (int i = 1; i < THREADS; i++) top = fmaxf(top, maxima[i]);
    for (int i = 0; i < THREADS; i++) total += sums[i] * expf(maxima[i] - top);

    float last = INFINITY;
    for (int k = 0; k < K; k++) {
        float best = -INFINITY;
        int place = -1;
        for (int i = t; i < V; i += THREADS)
            if (row[i] < last && row[i] > best) best = row[i], place = i;
        __syncthreads();
        maxima[t] = best;
        places[t] = place;
        __syncthreads();
        int winner = 0;
        for (int i = 1; i < THREADS; i++)
            if (maxima[i] > maxima[winner]) winner = i;
        last = maxima[winner];
        if (t == 0) {
            indices[blockIdx.x * K + k] = places[winner];
            probs[blockIdx.x * K + k] = expf(last - top) / total;
        }
    }
}

extern "C" int judge_launch(const float* logits, void* indices, void* probs, long long rows, long long V, int K) {
    topk<<<rows, THREADS, TILE * sizeof(float)>>>(logits, static_cast<int*>(indices), static_cast<float*>(probs), V, K);
    if (cudaError_t code = cudaGetLastError()) return code;
    return cudaDeviceSynchronize();
}
