// style: rows of the output are padded to a multiple of four entries, so that they can be stored as float4 and int4
// style: the padding holds index -1 and probability 0, as the comment beside the launcher says

#include <cuda_runtime.h>

template <int KP>
__global__ void topk_padded(const float* logits, int4* indices, float4* probs, int V, int K)
{
    __shared__ float list[8][KP];
    __shared__ int at[8][KP];
    __shared__ float m8[8], d8[8];
    __shared__ alignas(16) int out_i[KP];
    __shared__ alignas(16) float out_p[KP];

    const int lane = threadIdx.x, warp = threadIdx.y;
    const float* x = logits + (size_t)blockIdx.x * V;
    float m = -INFINITY;
    for (int v = warp * 32 + lane; v < V; v += 256) m = fmaxf(m, x[v]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, o));
    if (lane == 0) m8[warp] = m;
    __syncthreads();
    for (int w = 0; w < 8; ++w) m = fmaxf(m, m8[w]);
    float d = 0.f;
    for (int v = warp * 32 + lane; v < V; v += 256) d += expf(x[v] - m);
    for (int o = 16; o; o >>= 1) d += __shfl_xor_sync(0xffffffff, d, o);
    if (lane == 0) d8[warp] = d;

    // a warp chooses the best KP of its stripe, one after the other, in the order of (value, index)
    float last = INFINITY;
    int last_at = -1;
    for (int k = 0; k < KP; ++k) {
        float best = -INFINITY;
        int best_at = -1;
        for (int v = warp * 32 + lane; v < V; v += 256) {
            const float y = x[v];
            if (y > last || (y == last && v <= last_at)) continue;
            if (best_at < 0 || y > best) { best = y; best_at = v; }
        }
        for (int o = 16; o; o >>= 1) {
            const float y = __shfl_xor_sync(0xffffffff, best, o);
            const int y_at = __shfl_xor_sync(0xffffffff, best_at, o);
            if (y_at >= 0 && (best_at < 0 || y > best || (y == best && y_at < best_at))) { best = y; best_at = y_at; }
        }
        if (lane == 0) { list[warp][k] = best; at[warp][k] = best_at; }
        last = best;
        last_at = best_at;
        if (best_at < 0) {
            for (int rest = k + 1 + lane; rest < KP; rest += 32) at[warp][rest] = -1;
            break;
        }
    }
    __syncthreads();

    if (lane == 0 && warp == 0) {
        float mass = 0.f;
        for (int w = 0; w < 8; ++w) mass += d8[w];
        int head[8] = {0, 0, 0, 0, 0, 0, 0, 0};
        for (int k = 0; k < KP; ++k) {
            int from = -1;
            for (int w = 0; w < 8 && k < K; ++w) {
                if (head[w] == KP || at[w][head[w]] < 0) continue;
                if (from < 0 || list[w][head[w]] > list[from][head[from]] ||
                    (list[w][head[w]] == list[from][head[from]] && at[w][head[w]] < at[from][head[from]]))
                    from = w;
            }
            out_i[k] = from < 0 ? -1 : at[from][head[from]];
            out_p[k] = from < 0 ? 0.f : expf(list[from][head[from]] - m) / mass;
            if (from >= 0) ++head[from];
        }
    }
    __syncthreads();
    const int quad = warp * 32 + lane;
    if (quad < KP / 4) {
        indices[(size_t)blockIdx.x * (KP / 4) + quad] = reinterpret_cast<const int4*>(out_i)[quad];
        probs[(size_t)blockIdx.x * (KP / 4) + quad] = reinterpret_cast<const float4*>(out_p)[quad];
    }
}

// indices and probs are [rows, K rounded up to a multiple of 4]; the entries behind K are -1 and 0.
int fused_softmax_topk(const float* logits, int* indices, float* probs, int rows, int V, int K, cudaStream_t stream)
{
    if (K < 1 || K > 32 || K > V) return -1;
    const dim3 block(32, 8);
    int4* i4 = reinterpret_cast<int4*>(indices);
    float4* p4 = reinterpret_cast<float4*>(probs);
    switch ((K + 3) / 4 * 4) {
        case 4: topk_padded<4><<<rows, block, 0, stream>>>(logits, i4, p4, V, K); break;
        case 8: topk_padded<8><<<rows, block, 0, stream>>>(logits, i4, p4, V, K); break;
        case 12: topk_padded<12><<<rows, block, 0, stream>>>(logits, i4, p4, V, K); break;
        case 32: topk_padded<32><<<rows, block, 0, stream>>>(logits, i4, p4, V, K); break;
        default: return -1;
    }
    return (int)cudaGetLastError();
}
