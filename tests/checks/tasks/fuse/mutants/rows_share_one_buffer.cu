// bug: each thread of a block takes a token of its own, and all of them sort in the same shared memory
// caught by: topk_correct, memory_safety
// only: topk_correct, memory_safety

#include <cuda_runtime.h>

__global__ void gate(const float* scores, float* weights, int* ids, int num_tokens, int num_experts, int top_k) {
    extern __shared__ float buffer[];
    float* value = buffer;
    int* id = (int*)(buffer + num_experts);
    const int token = blockIdx.x * blockDim.x + threadIdx.x;
    if (token >= num_tokens) return;
    for (int e = threadIdx.x; e < num_experts; e += blockDim.x) {
        value[e] = scores[(long long)token * num_experts + e];
        id[e] = e;
    }
    __syncthreads();
    float mass = 0.f, high = value[0];
    for (int e = 1; e < num_experts; ++e) high = fmaxf(high, value[e]);
    for (int e = 0; e < num_experts; ++e) mass += expf(value[e] - high);
    for (int k = 0; k < top_k; ++k) {
        int best = k;
        for (int e = k + 1; e < num_experts; ++e)
            if (value[e] > value[best] || (value[e] == value[best] && id[e] < id[best])) best = e;
        const float v = value[best];
        const int i = id[best];
        value[best] = value[k], id[best] = id[k];
        value[k] = v, id[k] = i;
        weights[(long long)token * top_k + k] = expf(v - high) / mass;
        ids[(long long)token * top_k + k] = i;
    }
}

void route(const float* scores, float* weights, int* ids, int batch_size, int seq_len, int num_experts, int top_k) {
    const int num_tokens = batch_size * seq_len, block = 128;
    gate<<<(num_tokens + block - 1) / block, block, 2 * num_experts * sizeof(float)>>>(scores, weights, ids, num_tokens, num_experts, top_k);
    cudaDeviceSynchronize();
}
