// bug: blocks of a fixed grid go over rows; the threshold that a full list raised is kept for the next row
// caught by: rows_independent
// passes: k_range, topk_correct

#include <cuda_runtime.h>
#include <math_constants.h>

constexpr int THREADS = 128;
constexpr int LIST = 512;
constexpr int BLOCKS = 96;
constexpr int MOST = 64;

struct Entry {
    float logit;
    int token;
};

__device__ bool before(const Entry& a, const Entry& b) {
    return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

// The `wanted` best of a list move to its front, best first.
__device__ void cut(Entry* list, int held, int wanted) {
    for (int place = 0; place < wanted; ++place) {
        __shared__ int winners[THREADS];
        int best = -1;
        for (int i = place + threadIdx.x; i < held; i += THREADS)
            if (best < 0 || before(list[i], list[best])) best = i;
        winners[threadIdx.x] = best;
        __syncthreads();
        for (int half = THREADS / 2; half; half /= 2) {
            if (threadIdx.x < half) {
                const int other = winners[threadIdx.x + half], own = winners[threadIdx.x];
                if (other >= 0 && (own < 0 || before(list[other], list[own]))) winners[threadIdx.x] = other;
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            const Entry moved = list[place];
            list[place] = list[winners[0]];
            list[winners[0]] = moved;
        }
        __syncthreads();
    }
}

__device__ float over_block(float value, bool largest) {
    __shared__ float parts[THREADS];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half) {
            const float other = parts[threadIdx.x + half];
            parts[threadIdx.x] = largest ? fmaxf(parts[threadIdx.x], other) : parts[threadIdx.x] + other;
        }
        __syncthreads();
    }
    const float all = parts[0];
    __syncthreads();
    return all;
}

__global__ void __launch_bounds__(THREADS) top_of_rows(const float* logits, int* tokens, float* probs,
                                                       int rows, int vocab, int k) {
    __shared__ Entry list[LIST];
    __shared__ int held;
    __shared__ float threshold;
    if (threadIdx.x == 0) {
        threshold = -CUDART_INF_F;
        held = 0;
    }
    __syncthreads();
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const float* x = logits + size_t(row) * vocab;
        float maximum = -CUDART_INF_F;
        for (int first = 0; first < vocab; first += THREADS) {
            const int token = first + threadIdx.x;
            if (token < vocab) {
                maximum = fmaxf(maximum, x[token]);
                if (!(x[token] < threshold)) list[atomicAdd(&held, 1)] = {x[token], token};
            }
            __syncthreads();
            const int now = held;
            __syncthreads();
            if (now > LIST - THREADS) {
                cut(list, now, k);
                if (threadIdx.x == 0) {
                    held = k;
                    threshold = list[k - 1].logit;
                }
                __syncthreads();
            }
        }
        maximum = over_block(maximum, true);
        float sum = 0.0f;
        for (int token = threadIdx.x; token < vocab; token += THREADS) sum += expf(x[token] - maximum);
        sum = over_block(sum, false);
        cut(list, held, k);
        for (int place = threadIdx.x; place < k; place += THREADS) {
            tokens[size_t(row) * k + place] = list[place].token;
            probs[size_t(row) * k + place] = expf(list[place].logit - maximum) / sum;
        }
        __syncthreads();
        if (threadIdx.x == 0) held = 0;
        __syncthreads();
    }
}

extern "C" int softmax_topk(const float* logits, int* tokens, float* probs, int rows, int vocab, int k,
                            cudaStream_t stream) {
    if (k < 1 || k > MOST || k > vocab) return 1;
    top_of_rows<<<rows < BLOCKS ? rows : BLOCKS, THREADS, 0, stream>>>(logits, tokens, probs, rows, vocab, k);
    return int(cudaGetLastError());
}
