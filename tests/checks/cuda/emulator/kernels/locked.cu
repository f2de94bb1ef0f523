// Top-k by one shared list per block, guarded by a spinning lock, fed through float4 loads; two kernels and scratch memory.
#include <cuda_runtime.h>

__constant__ float floor_of_all[1] = {-1e30f};
__device__ unsigned insertions;

struct Scratch {
    float *maxima, *sums;
};

__global__ void softmax_parts(const float* logits, Scratch scratch, int V) {
    __shared__ volatile float s[128];
    const float4* row = reinterpret_cast<const float4*>(logits + (size_t)blockIdx.x * V);
    float m = floor_of_all[0];
    for (int i = threadIdx.x; i < V / 4; i += blockDim.x) {
        float4 v = row[i];
        m = fmaxf(fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)), m);
    }
    s[threadIdx.x] = m;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + half]);
    }
    __syncthreads();
    m = s[0];
    __syncthreads();
    float z = 0;
    for (int i = threadIdx.x; i < V / 4; i += blockDim.x) {
        float4 v = row[i];
        z += (expf(v.x - m) + expf(v.y - m)) + (expf(v.z - m) + expf(v.w - m));
    }
    s[threadIdx.x] = z;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        scratch.maxima[blockIdx.x] = m;
        scratch.sums[blockIdx.x] = s[0];
    }
}

__global__ void pick(const float* logits, Scratch scratch, int* indices, float* probs, int V, int K) {
    extern __shared__ float values[];
    int* places = reinterpret_cast<int*>(values + K);
    __shared__ int lock, size;
    if (threadIdx.x == 0) lock = size = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < V; i += blockDim.x) {
        float x = logits[(size_t)blockIdx.x * V + i];
        bool done = false;
        while (!done) {
            if (atomicCAS(&lock, 0, 1) == 0) {
                __threadfence_block();
                if (size < K || x > values[K - 1]) {
                    int at = size < K ? size++ : K - 1;
                    while (at > 0 && values[at - 1] < x) {
                        values[at] = values[at - 1];
                        places[at] = places[at - 1];
                        at--;
                    }
                    values[at] = x;
                    places[at] = i;
                    atomicAdd(&insertions, 1u);
                }
                __threadfence_block();
                atomicExch(&lock, 0);
                done = true;
            }
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < K; k += blockDim.x) {
        indices[blockIdx.x * K + k] = places[k];
        probs[blockIdx.x * K + k] = expf(values[k] - scratch.maxima[blockIdx.x]) / scratch.sums[blockIdx.x];
    }
}

extern "C" int judge_launch(const float* logits, void* indices, void* probs, long long rows, long long V, int K) {
    Scratch scratch;
    cudaStream_t stream;
    if (cudaStreamCreate(&stream) != cudaSuccess) return 1;
    cudaMallocAsync(&scratch.maxima, rows * sizeof(float), stream);
    cudaMallocAsync(&scratch.sums, rows * sizeof(float), stream);
    size_t bytes = K * (sizeof(float) + sizeof(int));
    if (bytes > 48 * 1024) cudaFuncSetAttribute(pick, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    softmax_parts<<<(unsigned)rows, 128, 0, stream>>>(logits, scratch, V);
    pick<<<(unsigned)rows, 64, bytes, stream>>>(logits, scratch, (int*)indices, (float*)probs, V, K);
    cudaError_t code = cudaGetLastError();
    cudaStreamSynchronize(stream);
    cudaFree(scratch.maxima);
    cudaFree(scratch.sums);
    cudaStreamDestroy(stream);
    return code;
}
