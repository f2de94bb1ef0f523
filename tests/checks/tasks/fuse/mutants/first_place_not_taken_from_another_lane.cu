// bug: a lane takes no index 0 from another one: 0 stands for nothing there
// caught by: topk_correct, rows_independent
// only: topk_correct, rows_independent

#include <cuda_runtime.h>

constexpr int WARPS = 4;

__global__ void gate(const float* scores, float* weights, int* ids, long long num_tokens, int num_experts, int top_k) {
    const int lane = threadIdx.x;
    const long long token = (long long)blockIdx.x * WARPS + threadIdx.y;
    if (token >= num_tokens) return;
    const float* mine = scores + token * num_experts;
    float high = 0.f, mass = 1.f, bound = 0.f;
    int bound_id = -1;
    for (int k = 0; k < top_k; ++k) {
        float best = 0.f;
        int best_id = -1;
        for (int e = lane; e < num_experts; e += 32) {
            const float s = mine[e];
            if (k && (s > bound || (s == bound && e <= bound_id))) continue;
            if (best_id < 0 || s > best) best = s, best_id = e;
        }
        for (int d = 16; d; d >>= 1) {
            const float s = __shfl_xor_sync(~0u, best, d);
            const int e = __shfl_xor_sync(~0u, best_id, d);
            if (e > 0 && (best_id < 0 || s > best || (s == best && e < best_id))) best = s, best_id = e;
        }
        if (k == 0) {
            high = best;
            float part = 0.f;
            for (int e = lane; e < num_experts; e += 32) part += expf(mine[e] - high);
            for (int d = 16; d; d >>= 1) part += __shfl_xor_sync(~0u, part, d);
            mass = part;
        }
        if (lane == 0) {
            weights[token * top_k + k] = expf(best - high) / mass;
            ids[token * top_k + k] = best_id;
        }
        bound = best;
        bound_id = best_id;
    }
}

void route(const float* scores, float* weights, int* ids, int batch_size, int seq_len, int num_experts, int top_k) {
    const long long num_tokens = (long long)batch_size * seq_len;
    gate<<<(unsigned)((num_tokens + WARPS - 1) / WARPS), dim3(32, WARPS)>>>(scores, weights, ids, num_tokens, num_experts, top_k);
    cudaDeviceSynchronize();
}
