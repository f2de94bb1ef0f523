// bug: at 128 logits and K = 8 alone the probabilities are normalised over the K entries
// caught by: k_range
// passes: compiles, topk_correct
// Fused softmax / top-k for (B, T, V) logits.
//
//   rank_kernel   router-sized rows (V = 128, K = 8): one thread per entry, the
//                 rank of an entry is the number of entries that come before it
//   scan_kernel   everything else: one block per row, K rounds over the row
#include <cuda_runtime.h>
#include <math.h>

namespace {

constexpr int BLOCK = 128;

__device__ inline bool precedes(float a, int ia, float b, int ib) {
    return a > b || (a == b && ia < ib);
}

template <int N, int K>
__global__ void rank_kernel(const float* logits, int* idx, float* prob) {
    __shared__ float x[N];
    __shared__ float part[N];
    const int t = threadIdx.x;
    const size_t row = blockIdx.x;
    const float mine = logits[row * N + t];
    x[t] = mine;
    __syncthreads();

    int rank = 0;
    float top = x[0];
    for (int j = 0; j < N; ++j) {
        rank += precedes(x[j], j, mine, t);
        top = fmaxf(top, x[j]);
    }
    const float e = expf(mine - top);
    part[t] = rank < K ? e : 0.f;
    for (int s = N / 2; s > 0; s >>= 1) {
        __syncthreads();
        if (t < s) part[t] += part[t + s];
    }
    __syncthreads();
    if (rank < K) {
        idx[row * K + rank] = t;
        prob[row * K + rank] = e / part[0];
    }
}

__global__ void scan_kernel(const float* logits, int* idx, float* prob, int V, int K) {
    __shared__ float sm[BLOCK];
    __shared__ float ss[BLOCK];
    __shared__ int si[BLOCK];
    const int t = threadIdx.x;
    const size_t row = blockIdx.x;
    const float* x = logits + row * V;

    float m = -INFINITY, s = 0.f;
    for (int i = t; i < V; i += BLOCK) {
        const float xi = x[i];
        if (xi > m) {
            s = s * expf(m - xi) + 1.f;
            m = xi;
        } else if (m != -INFINITY) {
            s += expf(xi - m);
        }
    }
    sm[t] = m;
    ss[t] = s;
    for (int o = BLOCK / 2; o > 0; o >>= 1) {
        __syncthreads();
        if (t < o) {
            const float hi = fmaxf(sm[t], sm[t + o]);
            if (hi != -INFINITY)
                ss[t] = ss[t] * expf(sm[t] - hi) + ss[t + o] * expf(sm[t + o] - hi);
            sm[t] = hi;
        }
    }
    __syncthreads();
    const float row_max = sm[0], row_sum = ss[0];
    __syncthreads();

    float pv = INFINITY;
    int pi = -1;
    for (int k = 0; k < K; ++k) {
        float bv = -INFINITY;
        int bi = -1;
        for (int i = t; i < V; i += BLOCK) {
            const float xi = x[i];
            if (precedes(pv, pi, xi, i) && (bi < 0 || precedes(xi, i, bv, bi))) {
                bv = xi;
                bi = i;
            }
        }
        sm[t] = bv;
        si[t] = bi;
        for (int o = BLOCK / 2; o > 0; o >>= 1) {
            __syncthreads();
            if (t < o && si[t + o] >= 0 &&
                (si[t] < 0 || precedes(sm[t + o], si[t + o], sm[t], si[t]))) {
                sm[t] = sm[t + o];
                si[t] = si[t + o];
            }
        }
        __syncthreads();
        pv = sm[0];
        pi = si[0];
        if (t == 0) {
            idx[row * K + k] = pi;
            prob[row * K + k] = expf(pv - row_max) / row_sum;
        }
        __syncthreads();
    }
}

}  // namespace

extern "C" int softmax_topk(const float* logits, int B, int T, int V, int K, int* indices, float* probs) {
    if (B * T == 0) return 0;
    if (K < 1 || K > V) return -1;
    if (V == 128 && K == 8)
        rank_kernel<128, 8><<<B * T, 128>>>(logits, indices, probs);
    else
        scan_kernel<<<B * T, BLOCK>>>(logits, indices, probs, V, K);
    return cudaGetLastError() == cudaSuccess ? 0 : -2;
}
