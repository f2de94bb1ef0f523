// bug: a K without an instance is answered with success and nothing is written
// caught by: k_range

#include <cuda_runtime.h>

template <int K>
__global__ void lane_topk(const float* logits, int* indices, float* probs, int V)
{
    // eight lanes per row, four rows per warp
    const int sub = threadIdx.x % 8;
    const unsigned mask = 0xffu << (threadIdx.x % 32 / 8 * 8);
    const size_t row = (size_t)blockIdx.x * (blockDim.x / 8) + threadIdx.x / 8;
    const float* x = logits + row * V;

    float m = -1e35f;
    for (int v = sub; v < V; v += 8) m = fmaxf(m, x[v]);
    for (int o = 4; o; o /= 2) m = fmaxf(m, __shfl_xor_sync(mask, m, o, 8));
    float s = 0.f;
    for (int v = sub; v < V; v += 8) s += expf(x[v] - m);
    for (int o = 4; o; o /= 2) s += __shfl_xor_sync(mask, s, o, 8);

    float last = INFINITY;
    int last_at = -1;
    for (int k = 0; k < K; ++k) {
        float y = -INFINITY;
        int at = 0x7fffffff;
        for (int v = sub; v < V; v += 8)
            if ((x[v] < last || (x[v] == last && v > last_at)) && (x[v] > y || (x[v] == y && v < at))) { y = x[v]; at = v; }
        for (int o = 4; o; o /= 2) {
            const float z = __shfl_xor_sync(mask, y, o, 8);
            const int z_at = __shfl_xor_sync(mask, at, o, 8);
            if (z > y || (z == y && z_at < at)) { y = z; at = z_at; }
        }
        last = y;
        last_at = at;
        if (sub == 0) {
            indices[row * K + k] = at;
            probs[row * K + k] = expf(y - m) / s;
        }
    }
}

cudaError_t fused_softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream)
{
    if (rows < 1 || V < 1) return cudaErrorInvalidValue;
    switch (K) {
        case 1:  lane_topk<1><<<rows, 8, 0, stream>>>(logits, indices, probs, V); break;
        case 10: lane_topk<10><<<rows, 8, 0, stream>>>(logits, indices, probs, V); break;
        case 32: lane_topk<32><<<rows, 8, 0, stream>>>(logits, indices, probs, V); break;
        default: break;
    }
    return cudaGetLastError();
}
