// bug: candidates are struck off by value and not by index, so that one of several equal logits is returned again
// caught by: numerics

#include <cuda_runtime.h>

#define WARP_SIZE 32
#define K_MAX 64

// A warp per row. The K largest values are found first, then their places are looked up.
__global__ void values_then_places(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    extern __shared__ float chosen_of_block[];
    const int lane = threadIdx.x % WARP_SIZE;
    const int row = blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE;
    if (row >= rows) return;
    float* chosen = chosen_of_block + threadIdx.x / WARP_SIZE * K_MAX;
    const float* x = logits + (long long)row * V;

    float ceiling = INFINITY;
    int found = 0;
    while (found < K) {
        float best = -INFINITY;
        int times = 0;
        for (int v = lane; v < V; v += WARP_SIZE) {
            if (x[v] >= ceiling) continue;
            if (x[v] > best) {
                best = x[v];
                times = 1;
            } else if (x[v] == best) {
                ++times;
            }
        }
        float top = best;
        for (int o = WARP_SIZE / 2; o; o /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
        times = best == top ? times : 0;
        for (int o = WARP_SIZE / 2; o; o /= 2) times += __shfl_xor_sync(0xffffffffu, times, o);
        for (int i = 0; i < times && found < K; ++i, ++found)
            if (lane == 0) chosen[found] = top;
        ceiling = top;
        if (times == 0) break;
    }
    __syncwarp();

    float sum = 0.f;
    for (int v = lane; v < V; v += WARP_SIZE) sum += expf(x[v] - chosen[0]);
    for (int o = WARP_SIZE / 2; o; o /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, o);

    for (int k = lane; k < K; k += WARP_SIZE) {
        int place = 0;
        while (place < V - 1 && x[place] != chosen[k]) ++place;
        indices[(long long)row * K + k] = place;
        probs[(long long)row * K + k] = expf(chosen[k] - chosen[0]) / sum;
    }
}

cudaError_t topk_of_softmax(const float* logits, int* indices, float* probs, int rows, int V, int K,
                            cudaStream_t stream) {
    if (K < 1 || K > K_MAX || K > V) return cudaErrorInvalidValue;
    values_then_places<<<(rows + 1) / 2, 2 * WARP_SIZE, 2 * K_MAX * sizeof(float), stream>>>(logits, indices, probs,
                                                                                            rows, V, K);
    return cudaGetLastError();
}
