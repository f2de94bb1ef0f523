// style: a benchmark alone starts the kernels, in several block sizes that are template arguments, and fills its
// logits with the toolkit's random numbers; a kernel of one step stands before the one that does both
// warns: compiles, numerics
// skips: own_tests, resources

#include <cfloat>
#include <cstdio>
#include <cuda_runtime.h>
#include <curand.h>

#define RANDOM_CHECK(call) { curandStatus_t told = call; if (told != CURAND_STATUS_SUCCESS) { printf("%d\n", (int)told); } }

const int MOST = 4;

enum class Step { PICK, BOTH };

struct Best {
    float logit[MOST];
    int token[MOST];

    __device__ void clear() {
        for (int i = 0; i < MOST; ++i) {
            logit[i] = -FLT_MAX;
            token[i] = -1;
        }
    }

    __device__ void offer(float value, int from) {
        if (!(value > logit[MOST - 1])) return;
        int at = MOST - 1;
        for (; at > 0 && value > logit[at - 1]; --at) {
            logit[at] = logit[at - 1];
            token[at] = token[at - 1];
        }
        logit[at] = value;
        token[at] = from;
    }
};

template <int MAX_K, int THREADS>
__global__ void topk(const float* logits, int* tokens, float* values, int V, int K) {
    __shared__ Best lists[THREADS];
    const float* row = logits + (size_t)blockIdx.x * V;
    lists[threadIdx.x].clear();
    for (int v = threadIdx.x; v < V; v += THREADS) lists[threadIdx.x].offer(row[v], v);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 1; t < THREADS; ++t)
            for (int i = 0; i < MOST; ++i) lists[0].offer(lists[t].logit[i], lists[t].token[i]);
        for (int i = 0; i < MAX_K && i < K; ++i) {
            tokens[(size_t)blockIdx.x * K + i] = lists[0].token[i];
            values[(size_t)blockIdx.x * K + i] = lists[0].logit[i];
        }
    }
}

template <int MAX_K, int THREADS>
__global__ void topk_of_softmax(const float* logits, int* tokens, float* probabilities, int V, int K) {
    __shared__ Best lists[THREADS];
    __shared__ float sums[THREADS], tops[THREADS];
    const float* row = logits + (size_t)blockIdx.x * V;
    float top = -FLT_MAX, sum = 0.0f;
    lists[threadIdx.x].clear();
    for (int v = threadIdx.x; v < V; v += THREADS) {
        float x = row[v], higher = fmaxf(top, x);
        sum = sum * expf(top - higher) + expf(x - higher);
        top = higher;
        lists[threadIdx.x].offer(x, v);
    }
    tops[threadIdx.x] = top;
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 1; t < THREADS; ++t) {
            float higher = fmaxf(top, tops[t]);
            sum = sum * expf(top - higher) + sums[t] * expf(tops[t] - higher);
            top = higher;
            for (int i = 0; i < MOST; ++i) lists[0].offer(lists[t].logit[i], lists[t].token[i]);
        }
        for (int i = 0; i < MAX_K && i < K; ++i) {
            tokens[(size_t)blockIdx.x * K + i] = lists[0].token[i];
            probabilities[(size_t)blockIdx.x * K + i] = expf(lists[0].logit[i] - top) / sum;
        }
    }
}

void draw(float* logits, size_t count) {
    curandGenerator_t numbers;
    RANDOM_CHECK(curandCreateGenerator(&numbers, CURAND_RNG_PSEUDO_DEFAULT));
    RANDOM_CHECK(curandGenerateUniform(numbers, logits, count));
    RANDOM_CHECK(curandDestroyGenerator(numbers));
}

void benchmark(int V, int K, int batch_size, Step t) {
    float *x, *y;
    int* z;
    cudaMalloc(&x, sizeof(float) * V * batch_size);
    cudaMalloc(&y, sizeof(float) * K * batch_size);
    cudaMalloc(&z, sizeof(int) * K * batch_size);
    draw(x, (size_t)V * batch_size);
    if (t == Step::PICK) {
        topk<MOST, 64><<<batch_size, 64>>>(x, z, y, V, K);
    } else if (V >= 1024) {
        topk_of_softmax<MOST, 64><<<batch_size, 64>>>(x, z, y, V, K);
    } else {
        topk_of_softmax<MOST, 32><<<batch_size, 32>>>(x, z, y, V, K);
    }
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(y);
    cudaFree(z);
}

int main() {
    for (Step t : {Step::PICK, Step::BOTH}) benchmark(4096, MOST, 8, t);
    return 0;
}
