// Top-k by warp and block reductions with shuffles; a template per K, launched through a switch and a macro.
#include <cuda_runtime.h>
#include <math_constants.h>
#include <cfloat>

#define FULL 0xffffffffu
#define LAUNCH(kernel, ...) kernel<<<__VA_ARGS__>>>

struct Best {
    float value;
    int index;
};

// As wide as it is for its alignment: a copy of it reads bytes that nobody writes.
struct alignas(16) Padded {
    float value;
    bool valid;
};

__device__ __forceinline__ bool before(Best a, Best b) { return a.value > b.value || (a.value == b.value && a.index < b.index); }

__device__ Best warp_best(Best b) {
    for (int o = 16; o > 0; o >>= 1) {
        Best other{__shfl_down_sync(FULL, b.value, o), __shfl_down_sync(FULL, b.index, o)};
        if (before(other, b)) b = other;
    }
    return b;
}

template <int K, int BLOCK>
__global__ void __launch_bounds__(BLOCK) topk(const float* __restrict__ logits, int* indices, float* probs, int V) {
    __shared__ Best partial[BLOCK / 32];
    __shared__ float sums[BLOCK / 32];
    __shared__ Best winner;
    __shared__ float maximum, total;
    __shared__ Padded padded[BLOCK / 32];
    const float* row = logits + (size_t)blockIdx.x * V;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float m = -FLT_MAX, s = 0.f;
    for (int i = threadIdx.x; i < V; i += BLOCK) {
        float x = __ldg(row + i), n = fmaxf(m, x);
        s = s * __expf(m - n) + __expf(x - n);
        m = n;
    }
#pragma unroll
    for (int o = 16; o > 0; o >>= 1) {
        float om = __shfl_xor_sync(FULL, m, o), os = __shfl_xor_sync(FULL, s, o), n = fmaxf(m, om);
        s = s * __expf(m - n) + os * __expf(om - n);
        m = n;
    }
    if (lane == 0) {
        partial[warp].value = m;
        sums[warp] = s;
        padded[warp].value = m;
        padded[warp].valid = true;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        float mm = -FLT_MAX, t = 0;
        for (int w = 0; w < BLOCK / 32; w++) mm = fmaxf(mm, partial[w].value);
        for (int w = 0; w < BLOCK / 32; w++) t += sums[w] * __expf(partial[w].value - mm);
        Padded copy = padded[0];
        for (int w = 1; w < BLOCK / 32; w++)
            if (padded[w].value > copy.value) copy = padded[w];
        maximum = copy.valid ? copy.value : mm;
        total = t;
    }
    __syncthreads();
    Best last{CUDART_INF_F, -1};
    for (int k = 0; k < K; k++) {
        Best mine{-CUDART_INF_F, 0x7fffffff};
        for (int i = threadIdx.x; i < V; i += BLOCK) {
            Best here{row[i], i};
            if (before(last, here) && before(here, mine)) mine = here;
        }
        mine = warp_best(mine);
        if (lane == 0) partial[warp] = mine;
        __syncthreads();
        if (warp == 0) {
            mine = lane < BLOCK / 32 ? partial[lane] : Best{-CUDART_INF_F, 0x7fffffff};
            mine = warp_best(mine);
            if (lane == 0) {
                winner = mine;
                indices[blockIdx.x * K + k] = mine.index;
                probs[blockIdx.x * K + k] = __expf(mine.value - maximum) / total;
            }
        }
        __syncthreads();
        last = winner;
    }
}

cudaError_t launch(const float* logits, int* indices, float* probs, int rows, int V, int k, cudaStream_t stream) {
    switch (k) {
        case 1: topk<1, 256><<<rows, 256, 0, stream>>>(logits, indices, probs, V); break;
        case 8: topk<8, (256 > 128) ? 256 : 128> <<<dim3(rows), 256>>>(logits, indices, probs, V); break;
        case 10: LAUNCH((topk<10, 128>), rows, 128)(logits, indices, probs, V); break;
        default: return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

extern "C" int judge_launch(const float* logits, void* indices, void* probs, long long rows, long long V, int K) {
    int code = launch(logits, (int*)indices, (float*)probs, (int)rows, (int)V, K, nullptr);
    cudaDeviceSynchronize();
    return code;
}
