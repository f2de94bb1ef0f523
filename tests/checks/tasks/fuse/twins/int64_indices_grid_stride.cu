// style: int64 indices as torch.topk has them, size_t sizes, blocks that fetch rows by a grid stride, and the K-th bound instead of a list
// style: the launcher is a function object's static member, returns int, and takes the stream first

#include <climits>
#include <cuda_runtime.h>

struct FusedSoftmaxTopK {
    static constexpr unsigned kBlock = 192;  // six warps: no power of two

    static int run(cudaStream_t stream, const float* logits, long long* indices, float* probabilities,
                   long long rows, long long vocab, int k);
};

__device__ static void reduce_pair(float& value, long long& at) {
    for (int offset = 16; offset > 0; offset /= 2) {
        const float other = __shfl_down_sync(~0u, value, offset);
        const long long other_at = __shfl_down_sync(~0u, at, offset);
        if (other > value || (other == value && other_at < at)) {
            value = other;
            at = other_at;
        }
    }
}

__global__ void select_in_order(const float* logits, long long* indices, float* probabilities, long long rows,
                                long long vocab, int k) {
    constexpr int warps = FusedSoftmaxTopK::kBlock / 32;
    __shared__ float value_of_warp[warps];
    __shared__ long long index_of_warp[warps];
    __shared__ double mass_of_warp[warps];
    __shared__ float chosen;
    __shared__ long long chosen_at;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

    for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* x = logits + row * vocab;
        float top = 0.0f;
        double mass = 0.0;
        for (int rank = 0; rank < k; ++rank) {
            const float last = rank ? chosen : INFINITY;
            const long long last_at = rank ? chosen_at : -1;
            __syncthreads();
            float best = -INFINITY;
            long long best_at = LLONG_MAX;
            for (long long i = threadIdx.x; i < vocab; i += FusedSoftmaxTopK::kBlock) {
                const bool later = rank == 0 || x[i] < last || (x[i] == last && i > last_at);
                if (later && (x[i] > best || (x[i] == best && i < best_at))) {
                    best = x[i];
                    best_at = i;
                }
            }
            reduce_pair(best, best_at);
            if (lane == 0) {
                value_of_warp[warp] = best;
                index_of_warp[warp] = best_at;
            }
            __syncthreads();
            if (threadIdx.x == 0) {
                for (int w = 1; w < warps; ++w)
                    if (value_of_warp[w] > best || (value_of_warp[w] == best && index_of_warp[w] < best_at)) {
                        best = value_of_warp[w];
                        best_at = index_of_warp[w];
                    }
                chosen = best;
                chosen_at = best_at;
            }
            __syncthreads();
            if (rank == 0) {
                // the first choice is the maximum: now the mass is known as well
                top = chosen;
                double part = 0.0;
                for (long long i = threadIdx.x; i < vocab; i += FusedSoftmaxTopK::kBlock) part += expf(x[i] - top);
                for (int offset = 16; offset > 0; offset /= 2) part += __shfl_down_sync(~0u, part, offset);
                if (lane == 0) mass_of_warp[warp] = part;
                __syncthreads();
                for (int w = 0; w < warps; ++w) mass += mass_of_warp[w];
            }
            if (threadIdx.x == 0) {
                indices[row * k + rank] = chosen_at;
                probabilities[row * k + rank] = float(expf(chosen - top) / mass);
            }
        }
        __syncthreads();
    }
}

int FusedSoftmaxTopK::run(cudaStream_t stream, const float* logits, long long* indices, float* probabilities,
                          long long rows, long long vocab, int k) {
    if (k < 1 || k > 64 || k > vocab) return 1;
    const unsigned grid = rows < 3 ? unsigned(rows) : 3u;
    select_in_order<<<grid, kBlock, 0, stream>>>(logits, indices, probabilities, rows, vocab, k);
    return cudaGetLastError() == cudaSuccess ? 0 : 2;
}
