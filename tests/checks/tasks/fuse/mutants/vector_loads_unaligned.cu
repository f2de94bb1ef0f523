// bug: rows are read as float4 whatever their address is; V = 50257 puts three rows of four off a 16-byte boundary
// caught by: rows_independent
// passes: compiles

#include <cuda_runtime.h>

template <int THREADS>
struct Sketch {
    float value[THREADS];
    int index[THREADS];
};

// Calls f(index, logit) for the logits of this thread.
template <class F>
__device__ __forceinline__ void for_each_logit(const float* row, int V, int threads, F f) {
    const float4* quads = reinterpret_cast<const float4*>(row);
    for (int q = threadIdx.x; q < V / 4; q += threads) {
        const float4 x = quads[q];
        f(4 * q, x.x);
        f(4 * q + 1, x.y);
        f(4 * q + 2, x.z);
        f(4 * q + 3, x.w);
    }
    // tail
    for (int v = V / 4 * 4 + threadIdx.x; v < V; v += threads) f(v, row[v]);
}

template <int THREADS>
__global__ void vector_topk(const float* logits, int* indices, float* probs, int V, int K) {
    __shared__ Sketch<THREADS> sketch;
    const float* row = logits + (size_t)blockIdx.x * V;
    const size_t out = (size_t)blockIdx.x * K;
    float top = 0.f, mass = 0.f, last = INFINITY;
    int last_at = -1;
    for (int k = 0; k < K; ++k) {
        float best = -INFINITY;
        int at = 0x7fffffff;
        for_each_logit(row, V, THREADS, [&](int v, float x) {
            if (x > last || (x == last && v <= last_at)) return;
            if (x > best || (x == best && v < at)) {
                best = x;
                at = v;
            }
        });
        __syncthreads();
        sketch.value[threadIdx.x] = best;
        sketch.index[threadIdx.x] = at;
        for (int half = THREADS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (threadIdx.x < half) {
                const float y = sketch.value[threadIdx.x + half];
                const int y_at = sketch.index[threadIdx.x + half];
                if (y > sketch.value[threadIdx.x] || (y == sketch.value[threadIdx.x] && y_at < sketch.index[threadIdx.x])) {
                    sketch.value[threadIdx.x] = y;
                    sketch.index[threadIdx.x] = y_at;
                }
            }
        }
        __syncthreads();
        last = sketch.value[0];
        last_at = sketch.index[0];
        if (k == 0) {
            top = last;
            float part = 0.f;
            for_each_logit(row, V, THREADS, [&](int, float x) { part += expf(x - top); });
            __syncthreads();
            sketch.value[threadIdx.x] = part;
            __syncthreads();
            for (int half = THREADS / 2; half > 0; half /= 2) {
                if (threadIdx.x < half) sketch.value[threadIdx.x] += sketch.value[threadIdx.x + half];
                __syncthreads();
            }
            mass = sketch.value[0];
        }
        if (threadIdx.x == 0) {
            indices[out + k] = last_at;
            probs[out + k] = expf(last - top) / mass;
        }
    }
}

cudaError_t run_topk(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream) {
    if (K < 1 || K > V || K > 64) return cudaErrorInvalidValue;
    vector_topk<256><<<rows, 256, 0, stream>>>(logits, indices, probs, V, K);
    return cudaGetLastError();
}
