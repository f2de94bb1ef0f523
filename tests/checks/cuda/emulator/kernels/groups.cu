// Top-k with cooperative groups, dynamic shared memory and cub's block reduction over key-value pairs.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;
constexpr int THREADS = 128;

__global__ void topk(const float* logits, int* indices, float* probs, int V, int K) {
    using Pair = cub::KeyValuePair<int, float>;
    using Sums = cub::BlockReduce<float, THREADS>;
    using Maxima = cub::BlockReduce<Pair, THREADS>;
    __shared__ typename Sums::TempStorage sums;
    __shared__ Maxima::TempStorage maxima;
    __shared__ Pair winner;
    __shared__ float total;
    extern __shared__ __align__(16) unsigned char raw[];
    float* shared = reinterpret_cast<float*>(raw);
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const float* row = logits + (size_t)blockIdx.x * V;

    float m = -INFINITY;
    for (unsigned i = block.thread_rank(); i < V; i += block.size()) m = max(m, row[i]);
    m = cg::reduce(warp, m, cg::greater<float>());
    if (warp.thread_rank() == 0) shared[warp.meta_group_rank()] = m;
    block.sync();
    for (unsigned w = 0; w < warp.meta_group_size(); w++) m = max(m, shared[w]);
    float z = 0;
    for (int i = threadIdx.x; i < V; i += THREADS) z += expf(row[i] - m);
    z = Sums(sums).Sum(z);
    if (threadIdx.x == 0) total = z;
    __syncthreads();

    float last = INFINITY;
    int lasti = -1;
    for (int k = 0; k < K; k++) {
        Pair mine(0x7fffffff, -INFINITY);
        for (int i = threadIdx.x; i < V; i += THREADS)
            if (row[i] < last || (row[i] == last && i > lasti)) mine = cub::ArgMax()(mine, Pair(i, row[i]));
        Pair top = Maxima(maxima).Reduce(mine, cub::ArgMax());
        if (threadIdx.x == 0) {
            winner = top;
            indices[blockIdx.x * K + k] = top.key;
            probs[blockIdx.x * K + k] = expf(top.value - m) / total;
        }
        __syncthreads();
        last = winner.value;
        lasti = winner.key;
    }
}

extern "C" int judge_launch(const float* logits, void* indices, void* probs, long long rows, long long V, int K) {
    topk<<<rows, THREADS, THREADS / 32 * sizeof(float)>>>(logits, static_cast<int*>(indices), static_cast<float*>(probs), V, K);
    if (cudaError_t code = cudaGetLastError()) return code;
    return cudaDeviceSynchronize();
}
