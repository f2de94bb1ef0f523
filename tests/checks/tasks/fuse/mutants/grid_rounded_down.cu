// bug: the grid has rows / 8 blocks of 8 rows: what is left over is never computed
// caught by: rows_independent

#include <cuda_runtime.h>

template <int K>
class LaneList {
  public:
    __device__ LaneList() {
        for (int k = 0; k < K; ++k) key_[k] = 0;
    }

    // value and token in one number, so that comparing numbers compares both
    static __device__ unsigned long long key(float x, unsigned token) {
        unsigned bits = __float_as_uint(x == 0.0f ? 0.0f : x);
        bits ^= bits & 0x80000000u ? 0xffffffffu : 0x80000000u;
        return (unsigned long long)bits << 32 | (0xffffffffu - token);
    }
    static __device__ unsigned token(unsigned long long key) { return 0xffffffffu - (unsigned)key; }
    static __device__ float value(unsigned long long key) {
        const unsigned bits = (unsigned)(key >> 32);
        return __uint_as_float(bits & 0x80000000u ? bits ^ 0x80000000u : ~bits);
    }

    __device__ void offer(unsigned long long key) {
#pragma unroll
        for (int k = 0; k < K; ++k) {
            const unsigned long long high = key > key_[k] ? key : key_[k];
            key = key > key_[k] ? key_[k] : key;
            key_[k] = high;
        }
    }
    __device__ unsigned long long front() const { return key_[0]; }
    __device__ void advance() {
#pragma unroll
        for (int k = 1; k < K; ++k) key_[k - 1] = key_[k];
        key_[K - 1] = 0;
    }

  private:
    unsigned long long key_[K];
};

template <int K>
__global__ void packed_topk(const float* logits, int* tokens, float* probs, int vocab) {
    const int lane = threadIdx.x;
    const size_t row = (size_t)blockIdx.x * blockDim.y + threadIdx.y;
    const float* x = logits + row * vocab;
    LaneList<K> list;
    float m = -1e38f, d = 0.0f;
    for (int v = lane; v < vocab; v += 32) {
        const float y = x[v];
        list.offer(LaneList<K>::key(y, v));
        const float up = fmaxf(m, y);
        d = d * expf(m - up) + expf(y - up);
        m = up;
    }
    float top = m;
    for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, o));
    d *= expf(m - top);
    for (int o = 16; o; o >>= 1) d += __shfl_xor_sync(0xffffffffu, d, o);
    for (int k = 0; k < K; ++k) {
        unsigned long long best = list.front();
        for (int o = 16; o; o >>= 1) {
            const unsigned long long other = __shfl_xor_sync(0xffffffffu, best, o);
            best = other > best ? other : best;
        }
        if (list.front() == best) list.advance();
        if (lane == 0) {
            tokens[row * K + k] = (int)LaneList<K>::token(best);
            probs[row * K + k] = expf(LaneList<K>::value(best) - top) / d;
        }
    }
}

cudaError_t decode_topk(const float* logits, int* tokens, float* probs, int rows, int vocab, int k, cudaStream_t stream) {
    const int per_block = rows < 8 ? rows : 8;
    const dim3 grid(rows / per_block), block(32, per_block);
    if (rows < 1 || vocab < k) return cudaErrorInvalidValue;
    if (k == 1) packed_topk<1><<<grid, block, 0, stream>>>(logits, tokens, probs, vocab);
    else if (k == 10) packed_topk<10><<<grid, block, 0, stream>>>(logits, tokens, probs, vocab);
    else if (k == 16) packed_topk<16><<<grid, block, 0, stream>>>(logits, tokens, probs, vocab);
    else return cudaErrorInvalidValue;
    return cudaGetLastError();
}
