// bug: a row is cut into chunks of 2048 and the index within the chunk is returned, not the one within the row
// caught by: topk_correct

#include <cuda_runtime.h>

constexpr int kChunk = 2048;
constexpr int kTop = 32;

// Pass 1: the best 32 of a chunk, its maximum and its sum. One warp per chunk.
__global__ void pass1(const float* logits, int V, int chunks, float* chunk_x, int* chunk_i, float2* chunk_md) {
    const int lane = threadIdx.x;
    const int base = blockIdx.y * kChunk;
    const int n = min(kChunk, V - base);
    const float* x = logits + (size_t)blockIdx.x * V + base;
    const size_t slot = (size_t)blockIdx.x * chunks + blockIdx.y;
    float best = -INFINITY;  // the lane-th best so far
    int at = 0x7fffffff;
    float m = -1e38f, d = 0.f;
    for (int start = 0; start < n; start += 32) {
        const int i = start + lane;
        const float y = i < n ? x[i] : -INFINITY;
        if (i < n) {
            const float up = fmaxf(m, y);
            d = d * expf(m - up) + expf(y - up);
            m = up;
        }
        const float bar = __shfl_sync(0xffffffffu, best, 31);
        const int bar_at = __shfl_sync(0xffffffffu, at, 31);
        unsigned todo = __ballot_sync(0xffffffffu, i < n && (y > bar || bar_at == 0x7fffffff));
        for (; todo; todo &= todo - 1) {
            const int from = __ffs(todo) - 1;
            const float z = __shfl_sync(0xffffffffu, y, from);
            const unsigned ahead = __ballot_sync(0xffffffffu, at != 0x7fffffff && best >= z);
            const int place = __popc(ahead);
            const float up_x = __shfl_up_sync(0xffffffffu, best, 1);
            const int up_at = __shfl_up_sync(0xffffffffu, at, 1);
            if (lane > place) {
                best = up_x;
                at = up_at;
            } else if (lane == place) {
                best = z;
                at = start + from;
            }
        }
    }
    float top = m;
    for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
    d *= expf(m - top);
    for (int o = 16; o; o >>= 1) d += __shfl_xor_sync(0xffffffffu, d, o);
    chunk_x[slot * kTop + lane] = best;
    chunk_i[slot * kTop + lane] = at;
    if (lane == 0) chunk_md[slot] = make_float2(top, d);
}

// Pass 2: the lists of a row are merged, one head after the other.
__global__ void pass2(const float* chunk_x, const int* chunk_i, const float2* chunk_md, int chunks, int* indices,
                      float* probs, int K) {
    extern __shared__ int heads[];
    if (threadIdx.x != 0) return;
    const size_t first = (size_t)blockIdx.x * chunks;
    float m = -1e38f, d = 0.f;
    for (int c = 0; c < chunks; ++c) {
        heads[c] = 0;
        m = fmaxf(m, chunk_md[first + c].x);
    }
    for (int c = 0; c < chunks; ++c) d += chunk_md[first + c].y * expf(chunk_md[first + c].x - m);
    for (int k = 0; k < K; ++k) {
        int from = -1;
        float best = -INFINITY;
        for (int c = 0; c < chunks; ++c)
            if (heads[c] < kTop && chunk_i[(first + c) * kTop + heads[c]] != 0x7fffffff &&
                (from < 0 || chunk_x[(first + c) * kTop + heads[c]] > best)) {
                best = chunk_x[(first + c) * kTop + heads[c]];
                from = c;
            }
        indices[(size_t)blockIdx.x * K + k] = chunk_i[(first + from) * kTop + heads[from]++];
        probs[(size_t)blockIdx.x * K + k] = expf(best - m) / d;
    }
}

cudaError_t two_pass_topk(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream) {
    if (K < 1 || K > kTop || K > V) return cudaErrorInvalidValue;
    const int chunks = (V + kChunk - 1) / kChunk;
    const size_t lists = (size_t)rows * chunks;
    float* x;
    int* i;
    float2* md;
    cudaMalloc(&x, lists * kTop * sizeof(float));
    cudaMalloc(&i, lists * kTop * sizeof(int));
    cudaMalloc(&md, lists * sizeof(float2));
    pass1<<<dim3(rows, chunks), 32, 0, stream>>>(logits, V, chunks, x, i, md);
    pass2<<<rows, 32, chunks * sizeof(int), stream>>>(x, i, md, chunks, indices, probs, K);
    const cudaError_t error = cudaStreamSynchronize(stream);
    cudaFree(x);
    cudaFree(i);
    cudaFree(md);
    return error;
}
