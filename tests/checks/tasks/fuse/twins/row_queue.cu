// style: persistent blocks take rows from an atomic counter; a threshold and a ballot-compacted candidate buffer, pruned when full
// style: float4 loads behind a scalar prologue that reaches a 16-byte boundary

#include <cuda_runtime.h>
#include <limits.h>

#define WARP 32
#define WARPS 4
#define BUFFER 256

__device__ __forceinline__ bool goes_before(float a, int i, float b, int j) { return a > b || (a == b && i < j); }

struct Block {
    float value[BUFFER];
    int index[BUFFER];
    float spare_value[BUFFER / 2];
    int spare_index[BUFFER / 2];
    float max_of_warp[WARPS], sum_of_warp[WARPS];
    float bar;
    int bar_index;
    int count;
    int row;
};

// Keep the K best of the buffer, in order. Called by the whole block.
__device__ void prune(Block& s, int K) {
    __syncthreads();
    const int count = s.count;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int rank = 0;
        for (int j = 0; j < count; ++j) rank += goes_before(s.value[j], s.index[j], s.value[i], s.index[i]);
        if (rank < K) {
            s.spare_value[rank] = s.value[i];
            s.spare_index[rank] = s.index[i];
        }
    }
    __syncthreads();
    const int kept = min(count, K);
    for (int i = threadIdx.x; i < kept; i += blockDim.x) {
        s.value[i] = s.spare_value[i];
        s.index[i] = s.spare_index[i];
    }
    if (threadIdx.x == 0) {
        s.count = kept;
        if (kept == K) {
            s.bar = s.spare_value[K - 1];
            s.bar_index = s.spare_index[K - 1];
        }
    }
    __syncthreads();
}

// Offer one logit per thread; those beyond the bar are appended, warp by warp.
__device__ void offer(Block& s, bool valid, float x, int v) {
    const bool hit = valid && goes_before(x, v, s.bar, s.bar_index);
    const unsigned votes = __ballot_sync(0xffffffffu, hit);
    const int lane = threadIdx.x % WARP;
    int at = 0;
    if (lane == 0 && votes) at = atomicAdd(&s.count, __popc(votes));
    at = __shfl_sync(0xffffffffu, at, 0);
    if (hit) {
        at += __popc(votes & ((1u << lane) - 1));
        s.value[at] = x;
        s.index[at] = v;
    }
}

__global__ void queue_kernel(const float* __restrict__ logits, int* __restrict__ indices, float* __restrict__ probs,
                             unsigned* next_row, int rows, int V, int K) {
    __shared__ Block s;
    const int t = threadIdx.x, lane = t % WARP, warp = t / WARP, width = blockDim.x;
    while (true) {
        __syncthreads();
        if (t == 0) {
            s.row = atomicAdd(next_row, 1u);
            s.count = 0;
            s.bar = -INFINITY;
            s.bar_index = INT_MAX;
        }
        __syncthreads();
        const int row = s.row;
        if (row >= rows) return;
        const float* x = logits + (size_t)row * V;

        const int before = min(V, (int)((16 - ((size_t)x & 15)) % 16 / sizeof(float)));
        const int quads = (V - before) / 4;
        const int after = before + 4 * quads;
        float m = -INFINITY, d = 0.f;
        auto take = [&](float y) {
            if (y == -INFINITY) return;
            if (y > m) {
                d = d * expf(m - y) + 1.f;
                m = y;
            } else {
                d += expf(y - m);
            }
        };

        // head and tail: at most six logits, one per thread
        const int odd = before + (V - after);
        const int loose = t < before ? t : after + t - before;
        if (t < odd) take(x[loose]);
        offer(s, t < odd, t < odd ? x[loose] : 0.f, loose);

        const float4* x4 = reinterpret_cast<const float4*>(x + before);
        for (int base = 0; base < quads; base += width) {
            const int q = base + t;
            float4 y = make_float4(0.f, 0.f, 0.f, 0.f);
            if (q < quads) {
                y = x4[q];
                take(y.x);
                take(y.y);
                take(y.z);
                take(y.w);
            }
            const float parts[4] = {y.x, y.y, y.z, y.w};
            for (int e = 0; e < 4; ++e) {
                __syncthreads();
                if (s.count + width > BUFFER) prune(s, K);
                __syncthreads();
                offer(s, q < quads, parts[e], before + 4 * q + e);
            }
        }

        float top = m;
        for (int o = 16; o; o /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
        d = d > 0.f ? d * expf(m - top) : 0.f;
        for (int o = 16; o; o /= 2) d += __shfl_xor_sync(0xffffffffu, d, o);
        if (lane == 0) {
            s.max_of_warp[warp] = top;
            s.sum_of_warp[warp] = d;
        }
        prune(s, K);
        float all = s.max_of_warp[0], mass = 0.f;
        for (int w = 1; w < WARPS; ++w) all = fmaxf(all, s.max_of_warp[w]);
        for (int w = 0; w < WARPS; ++w)
            if (s.sum_of_warp[w] > 0.f) mass += s.sum_of_warp[w] * expf(s.max_of_warp[w] - all);
        for (int k = t; k < K; k += width) {
            indices[(size_t)row * K + k] = s.index[k];
            probs[(size_t)row * K + k] = expf(s.value[k] - all) / mass;
        }
    }
}

cudaError_t launch_softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K,
                                cudaStream_t stream) {
    if (K < 1 || K > BUFFER / 2 || K > V) return cudaErrorInvalidValue;
    unsigned* next_row;
    cudaError_t error = cudaMalloc((void**)&next_row, sizeof(unsigned));
    if (error != cudaSuccess) return error;
    cudaMemsetAsync(next_row, 0, sizeof(unsigned), stream);
    const int blocks = rows < 5 ? rows : 5;
    queue_kernel<<<blocks, WARP * WARPS, 0, stream>>>(logits, indices, probs, next_row, rows, V, K);
    error = cudaGetLastError();
    cudaStreamSynchronize(stream);
    cudaFree(next_row);
    return error;
}
