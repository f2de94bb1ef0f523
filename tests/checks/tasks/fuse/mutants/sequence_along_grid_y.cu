// bug: the grid's y is the position in the sequence and its z the sequence: of more than 65,535 positions no block runs,
// bug: and nobody asks whether the launch was taken
// caught by: rows_independent
// passes: topk_correct
// Router logits to the K likeliest experts: one warp per position, K rounds over the row, the sum carried along.
#include <cuda_runtime.h>
#include <cmath>

namespace {

struct Candidate {
    float x;
    int at;
};

__device__ inline Candidate best_of_warp(Candidate mine) {
    for (int step = 1; step < 32; step *= 2) {
        const float x = __shfl_xor_sync(0xffffffffu, mine.x, step);
        const int at = __shfl_xor_sync(0xffffffffu, mine.at, step);
        if (at >= 0 && (mine.at < 0 || x > mine.x || (x == mine.x && at < mine.at))) mine = {x, at};
    }
    return mine;
}

// What comes behind (x, at) in the order of the answer.
__device__ inline bool behind(float x, int at, Candidate last) { return x < last.x || (x == last.x && at > last.at); }

__global__ void route(const float* logits, int* indices, float* probs, int V, int K) {
    const size_t position = (size_t)blockIdx.z * gridDim.y + blockIdx.y;
    const float* row = logits + position * V;
    Candidate last = {0.0f, -1};
    float top = 0.0f, sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        Candidate mine = {-INFINITY, -1};
        for (int i = threadIdx.x; i < V; i += 32) {
            const float x = row[i];
            if (k > 0 && !behind(x, i, last)) continue;
            if (mine.at < 0 || x > mine.x) mine = {x, i};
        }
        last = best_of_warp(mine);
        if (k == 0) {
            top = last.x;
            for (int i = threadIdx.x; i < V; i += 32) sum += expf(row[i] - top);
            for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        }
        if (threadIdx.x == 0) {
            indices[position * K + k] = last.at;
            probs[position * K + k] = expf(last.x - top) / sum;
        }
    }
}

}  // namespace

void fused_softmax_topk(const float* logits, int* indices, float* probs, int B, int T, int V, int K) {
    dim3 grid;
    grid.y = T;
    grid.z = B;
    route<<<grid, 32>>>(logits, indices, probs, V, K);
}
