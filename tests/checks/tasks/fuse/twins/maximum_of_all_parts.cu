// Parts of a row are merged by a warp, whose lanes go over them as often as there are parts
// only: numerics, topk_correct
#include <cuda_runtime.h>
#include <math_constants.h>

#define PART 1024
#define ALL 0xffffffffu

__device__ float lanes_max(float x) {
    for (int s = 16; s; s >>= 1) x = fmaxf(x, __shfl_xor_sync(ALL, x, s));
    return x;
}

__device__ float lanes_sum(float x) {
    for (int s = 16; s; s >>= 1) x += __shfl_xor_sync(ALL, x, s);
    return x;
}

__global__ void parts_of_rows(const float* logits, float* part_max, float* part_sum, int V) {
    const float* row = logits + (size_t)blockIdx.y * V;
    int first = blockIdx.x * PART, end = min(first + PART, V);
    float m = -CUDART_INF_F;
    for (int i = first + threadIdx.x; i < end; i += 32) m = fmaxf(m, row[i]);
    m = lanes_max(m);
    float s = 0.0f;
    for (int i = first + threadIdx.x; i < end; i += 32)
        if (row[i] > -CUDART_INF_F) s += expf(row[i] - m);
    s = lanes_sum(s);
    if (threadIdx.x == 0) {
        part_max[blockIdx.y * gridDim.x + blockIdx.x] = m;
        part_sum[blockIdx.y * gridDim.x + blockIdx.x] = s;
    }
}

__global__ void merged(const float* logits, const float* part_max, const float* part_sum, int* indices, float* probs,
                       int V, int K, int parts) {
    const float* row = logits + (size_t)blockIdx.x * V;
    part_max += blockIdx.x * parts;
    part_sum += blockIdx.x * parts;
    int lane = threadIdx.x;
    float m = -CUDART_INF_F;
    for (int c = lane; c < parts; c += 32) m = fmaxf(m, part_max[c]);
    m = lanes_max(m);
    float total = 0.0f;
    for (int c = lane; c < parts; c += 32)
        if (part_max[c] > -CUDART_INF_F) total += part_sum[c] * expf(part_max[c] - m);
    total = lanes_sum(total);

    float last = CUDART_INF_F;
    int at = -1;
    for (int k = 0; k < K; k++) {
        float best = -CUDART_INF_F;
        int where = V;
        for (int i = lane; i < V; i += 32) {
            bool after = row[i] < last || (row[i] == last && i > at);
            if (after && (row[i] > best || (row[i] == best && i < where))) best = row[i], where = i;
        }
        for (int s = 16; s; s >>= 1) {
            float other = __shfl_xor_sync(ALL, best, s);
            int there = __shfl_xor_sync(ALL, where, s);
            if (other > best || (other == best && there < where)) best = other, where = there;
        }
        last = best, at = where;
        if (lane == 0) {
            indices[(size_t)blockIdx.x * K + k] = at;
            probs[(size_t)blockIdx.x * K + k] = expf(last - m) / total;
        }
    }
}

extern "C" void fused_softmax_topk(const float* logits, int* indices, float* probs, int B, int T, int V, int K) {
    int rows = B * T, parts = (V + PART - 1) / PART;
    float *part_max, *part_sum;
    cudaMalloc(&part_max, sizeof(float) * rows * parts);
    cudaMalloc(&part_sum, sizeof(float) * rows * parts);
    parts_of_rows<<<dim3(parts, rows), 32>>>(logits, part_max, part_sum, V);
    merged<<<rows, 32>>>(logits, part_max, part_sum, indices, probs, V, K, parts);
    cudaFree(part_max);
    cudaFree(part_sum);
}
