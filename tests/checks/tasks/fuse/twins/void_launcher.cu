// style: a launcher without a result: a K that it has no instance of is left alone, and nothing says so
// style: one warp per row hands 32 staged logits to its first lane, which keeps a sorted list in shared memory
// warns: k_range

#include <cuda_runtime.h>
#include <math.h>

template <int K, int WARPS_PER_BLOCK>
__global__ void staged_topk(const float* __restrict__ logits, int* __restrict__ top_idx,
                            float* __restrict__ top_prob, int rows, int V) {
    __shared__ float list_v[WARPS_PER_BLOCK][K];
    __shared__ int list_i[WARPS_PER_BLOCK][K];
    __shared__ float stage[WARPS_PER_BLOCK][32];
    const int wid = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const int row = blockIdx.x * WARPS_PER_BLOCK + wid;
    if (row >= rows) return;
    const float* x = logits + (size_t)row * V;
    float m = -INFINITY, d = 0.f;
    int held = 0;  // the first lane's
    for (int b = 0; b < V; b += 32) {
        const float v = b + lane < V ? x[b + lane] : -INFINITY;
        if (v > m) { d = d * expf(m - v) + 1.f; m = v; }
        else if (v > -INFINITY) d += expf(v - m);
        stage[wid][lane] = v;
        __syncwarp();
        if (lane == 0) {
            for (int t = 0; t < min(32, V - b); ++t) {
                const float f = stage[wid][t];
                if (held == K && !(f > list_v[wid][K - 1])) continue;
                int p = held < K ? held++ : K - 1;
                for (; p > 0 && list_v[wid][p - 1] < f; --p) {
                    list_v[wid][p] = list_v[wid][p - 1];
                    list_i[wid][p] = list_i[wid][p - 1];
                }
                list_v[wid][p] = f;
                list_i[wid][p] = b + t;
            }
        }
        __syncwarp();
    }
    for (int o = 16; o > 0; o >>= 1) {
        const float om = __shfl_xor_sync(0xffffffffu, m, o), od = __shfl_xor_sync(0xffffffffu, d, o);
        const float larger = fmaxf(m, om);
        if (larger > -INFINITY) d = d * expf(m - larger) + od * expf(om - larger);
        m = larger;
    }
    for (int k = lane; k < K; k += 32) {
        top_idx[(size_t)row * K + k] = list_i[wid][k];
        top_prob[(size_t)row * K + k] = expf(list_v[wid][k] - m) / d;
    }
}

void fused_softmax_topk(const float* d_logits, int* d_top_idx, float* d_top_prob, int B, int T, int V, int K) {
    const int rows = B * T, blocks = (rows + 3) / 4;
    switch (K) {
        case 10: staged_topk<10, 4><<<blocks, 128>>>(d_logits, d_top_idx, d_top_prob, rows, V); break;
        case 64: staged_topk<64, 4><<<blocks, 128>>>(d_logits, d_top_idx, d_top_prob, rows, V); break;
        default: return;
    }
}
