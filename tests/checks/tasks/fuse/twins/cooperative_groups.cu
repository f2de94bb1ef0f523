// style: cooperative groups: tiles of 32 instead of raw shuffles, cg::reduce, block.sync(), and a launch with two rows per block
// style: two rows share a block, and each has lists of its own in shared memory

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

namespace topk {

struct Entry {
    float logit;
    int token;
};

struct Better {
    __device__ Entry operator()(const Entry& a, const Entry& b) const {
        if (a.logit > b.logit) return a;
        if (b.logit > a.logit) return b;
        return a.token < b.token ? a : b;
    }
};

template <int K>
__global__ void two_rows(const float* __restrict__ logits, int* __restrict__ tokens, float* __restrict__ probs,
                         int rows, int V) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    const int tiles_per_row = tile.meta_group_size() / 2;
    const int which = tile.meta_group_rank() / tiles_per_row;
    const int part = tile.meta_group_rank() % tiles_per_row;
    const int row = 2 * blockIdx.x + which;
    const bool live = row < rows;
    const int stride = 32 * tiles_per_row;

    __shared__ Entry lists[2][2][K];  // row of the block, tile of the row
    __shared__ float tops[2][2], sums[2][2];

    Entry mine[K];
#pragma unroll
    for (int k = 0; k < K; ++k) mine[k] = Entry{-INFINITY, 0x7fffffff};
    float m = -INFINITY;
    if (live) {
        const float* x = logits + (size_t)row * V;
        for (int v = part * 32 + tile.thread_rank(); v < V; v += stride) {
            Entry e{x[v], v};
            m = fmaxf(m, e.logit);
#pragma unroll
            for (int k = 0; k < K; ++k) {
                const Entry kept = Better()(mine[k], e);
                e = kept.token == e.token ? mine[k] : e;
                mine[k] = kept;
            }
        }
    }
    const float top = cg::reduce(tile, m, cg::greater<float>());
    float s = 0.f;
    if (live) {
        const float* x = logits + (size_t)row * V;
        for (int v = part * 32 + tile.thread_rank(); v < V; v += stride) s += x[v] == -INFINITY ? 0.f : expf(x[v] - top);
    }
    s = cg::reduce(tile, s, cg::plus<float>());
    if (tile.thread_rank() == 0) {
        tops[which][part] = top;
        sums[which][part] = s;
    }
    for (int k = 0; k < K; ++k) {
        const Entry best = cg::reduce(tile, mine[0], Better());
        if (tile.thread_rank() == 0) lists[which][part][k] = best;
        if (mine[0].token == best.token) {
#pragma unroll
            for (int i = 0; i + 1 < K; ++i) mine[i] = mine[i + 1];
            mine[K - 1] = Entry{-INFINITY, 0x7fffffff};
        }
    }
    block.sync();

    if (live && part == 0 && tile.thread_rank() == 0) {
        const float both = fmaxf(tops[which][0], tops[which][1]);
        float mass = 0.f;
        for (int p = 0; p < 2; ++p)
            if (sums[which][p] > 0.f) mass += sums[which][p] * expf(tops[which][p] - both);
        int at[2] = {0, 0};
        for (int k = 0; k < K; ++k) {
            Entry none{-INFINITY, 0x7fffffff};
            const Entry a = at[0] < K ? lists[which][0][at[0]] : none;
            const Entry b = at[1] < K ? lists[which][1][at[1]] : none;
            const Entry best = Better()(a, b);
            ++at[best.token == a.token ? 0 : 1];
            tokens[(size_t)row * K + k] = best.token;
            probs[(size_t)row * K + k] = expf(best.logit - both) / mass;
        }
    }
}

template <int K>
cudaError_t start(const float* logits, int* tokens, float* probs, int rows, int V, cudaStream_t stream) {
    two_rows<K><<<(rows + 1) / 2, 128, 0, stream>>>(logits, tokens, probs, rows, V);
    return cudaGetLastError();
}

}  // namespace topk

cudaError_t softmax_topk(const float* logits, int* tokens, float* probs, int rows, int V, int K, cudaStream_t stream) {
    using Launch = cudaError_t (*)(const float*, int*, float*, int, int, cudaStream_t);
    struct Row {
        int k;
        Launch launch;
    };
    static const Row table[] = {{1, topk::start<1>}, {8, topk::start<8>}, {10, topk::start<10>}, {16, topk::start<16>}};
    if (K > V) return cudaErrorInvalidValue;
    for (const Row& row : table)
        if (row.k == K) return row.launch(logits, tokens, probs, rows, V, stream);
    return cudaErrorNotSupported;
}
