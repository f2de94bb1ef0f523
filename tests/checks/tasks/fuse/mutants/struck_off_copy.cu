// bug: the logits are copied to global memory, so that what has been chosen can be struck off in the copy
// caught by: no_materialize

#include <cuda_runtime.h>
#include <limits.h>

struct Workspace {
    float* copy;
    int rows, vocab;
};

__global__ void choose(Workspace w, int* indices, float* probs, int K) {
    __shared__ unsigned long long packed;
    __shared__ float total;
    float* x = w.copy + (size_t)blockIdx.x * w.vocab;
    float top = 0.f;
    if (threadIdx.x == 0) total = 0.f;
    for (int k = 0; k < K; ++k) {
        if (threadIdx.x == 0) packed = 0;
        __syncthreads();
        // order-preserving bits in the upper half, the complement of the index in the lower
        for (int v = threadIdx.x; v < w.vocab; v += blockDim.x) {
            unsigned bits = __float_as_uint(x[v]);
            if (bits == 0xffffffffu) continue;  // struck off
            if (bits == 0x80000000u) bits = 0;
            bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
            atomicMax(&packed, (unsigned long long)bits << 32 | (unsigned)(INT_MAX - v));
        }
        __syncthreads();
        const int at = INT_MAX - (int)(unsigned)packed;
        const float value = x[at];
        if (k == 0) {
            top = value;
            float part = 0.f;
            for (int v = threadIdx.x; v < w.vocab; v += blockDim.x) part += expf(x[v] - top);
            for (int o = 16; o; o >>= 1) part += __shfl_xor_sync(0xffffffffu, part, o);
            if (threadIdx.x % 32 == 0) atomicAdd(&total, part);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            indices[(size_t)blockIdx.x * K + k] = at;
            probs[(size_t)blockIdx.x * K + k] = expf(value - top) / total;
            x[at] = __uint_as_float(0xffffffffu);
        }
        __syncthreads();
    }
}

int topk_softmax(const float* logits, int* indices, float* probs, int B, int T, int V, int K) {
    if (K < 1 || K > V || K > 32) return cudaErrorInvalidValue;
    Workspace w{nullptr, B * T, V};
    const size_t bytes = (size_t)w.rows * V * sizeof(float);
    cudaError_t error = cudaMalloc((void**)&w.copy, bytes);
    if (!error) error = cudaMemcpy(w.copy, logits, bytes, cudaMemcpyDeviceToDevice);
    if (!error) {
        choose<<<w.rows, 64>>>(w, indices, probs, K);
        error = cudaDeviceSynchronize();
    }
    cudaFree(w.copy);
    return error;
}
