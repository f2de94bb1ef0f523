// bug: K is rounded up to a multiple of 8 and all of the rounded entries are written, K apart: past the row and past the end
// caught by: k_range, memory_safety

#include <cuda_runtime.h>

template <int K8>
struct Merged {
    float x[K8];
    int i[K8];
};

template <int K8>
__device__ void merge_lists(Merged<K8>& a, const Merged<K8>& b) {
    Merged<K8> out;
    int p = 0, q = 0;
    for (int k = 0; k < K8; ++k) {
        const bool left = a.x[p] > b.x[q] || (a.x[p] == b.x[q] && a.i[p] < b.i[q]);
        out.x[k] = left ? a.x[p] : b.x[q];
        out.i[k] = left ? a.i[p] : b.i[q];
        left ? ++p : ++q;
    }
    a = out;
}

template <int K8>
__global__ void tree_topk(const float* logits, int* indices, float* probs, int V, int K) {
    __shared__ Merged<K8> lists[64];
    __shared__ float m[64], d[64];
    const int t = threadIdx.x;
    const float* x = logits + (size_t)blockIdx.x * V;
    Merged<K8> mine;
    for (int k = 0; k < K8; ++k) {
        mine.x[k] = -INFINITY;
        mine.i[k] = 0x7fffffff;
    }
    float top = -1e38f, sum = 0.f;
    for (int v = t; v < V; v += 64) {
        const float y = x[v];
        const float up = fmaxf(top, y);
        sum = sum * expf(top - up) + expf(y - up);
        top = up;
        int k = K8 - 1;
        if (y < mine.x[k] || (y == mine.x[k] && v > mine.i[k])) continue;
        for (; k > 0 && (mine.x[k - 1] < y || (mine.x[k - 1] == y && mine.i[k - 1] > v)); --k) {
            mine.x[k] = mine.x[k - 1];
            mine.i[k] = mine.i[k - 1];
        }
        mine.x[k] = y;
        mine.i[k] = v;
    }
    lists[t] = mine;
    m[t] = top;
    d[t] = sum;
    for (int half = 32; half; half >>= 1) {
        __syncthreads();
        if (t < half) {
            merge_lists(lists[t], lists[t + half]);
            const float up = fmaxf(m[t], m[t + half]);
            d[t] = d[t] * expf(m[t] - up) + d[t + half] * expf(m[t + half] - up);
            m[t] = up;
        }
    }
    __syncthreads();
    if (t < K8) {
        indices[(size_t)blockIdx.x * K + t] = lists[0].i[t];
        probs[(size_t)blockIdx.x * K + t] = expf(lists[0].x[t] - m[0]) / d[0];
    }
}

cudaError_t softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream) {
    const int rounded = (K + 7) / 8 * 8;
    if (K < 1 || rounded > V) return cudaErrorInvalidValue;
    switch (rounded) {
        case 8: tree_topk<8><<<rows, 64, 0, stream>>>(logits, indices, probs, V, K); break;
        case 16: tree_topk<16><<<rows, 64, 0, stream>>>(logits, indices, probs, V, K); break;
        case 32: tree_topk<32><<<rows, 64, 0, stream>>>(logits, indices, probs, V, K); break;
        default: return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}
