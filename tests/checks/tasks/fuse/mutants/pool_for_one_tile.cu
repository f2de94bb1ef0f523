// bug: a pool of candidates keeps room for one tile where four come in before it is cut, and drops what finds no place
// caught by: numerics
// passes: memory_safety

#include <cuda_runtime.h>

namespace sampler {

constexpr int TILE = 256;                // threads, and logits per tile
constexpr int UNROLL = 4;                // tiles in flight per thread
constexpr int BATCH = TILE * UNROLL;
constexpr int POOL = 1024;               // candidates in shared memory
constexpr int K_LIMIT = 128;

using Entry = unsigned long long;

__device__ __forceinline__ Entry pack(float x, int i) {
    unsigned u = __float_as_uint(x);
    u ^= (u >> 31) ? 0xffffffffu : 0x80000000u;
    return ((Entry)u << 32) | (unsigned)~i;
}
__device__ __forceinline__ float value(Entry e) {
    unsigned u = (unsigned)(e >> 32);
    u ^= (u >> 31) ? 0x80000000u : 0xffffffffu;
    return __uint_as_float(u);
}
__device__ __forceinline__ int index(Entry e) { return (int)~(unsigned)e; }

// (max, sum exp(x - max)); the empty element is (-inf, 0).
struct Lse {
    float m, s;
    __device__ void push(float x) { *this = join(*this, Lse{x, x == -INFINITY ? 0.f : 1.f}); }
    __device__ static Lse join(Lse a, Lse b) {
        if (b.m > a.m) { Lse t = a; a = b; b = t; }
        if (b.s > 0.f) a.s += b.s * expf(b.m - a.m);
        return a;
    }
};

// Sort the pool in descending order (bitonic), keep k entries.
__device__ void compact(Entry* pool, int* count, Entry* floor_, int k) {
    int n = *count < POOL ? *count : POOL;
    for (int i = n + threadIdx.x; i < POOL; i += TILE) pool[i] = 0;
    __syncthreads();
    for (int w = 2; w <= POOL; w *= 2)
        for (int g = w / 2; g > 0; g /= 2) {
            for (int i = threadIdx.x; i < POOL; i += TILE) {
                int j = i ^ g;
                if (j > i) {
                    Entry a = pool[i], b = pool[j];
                    if ((i & w) == 0 ? a < b : a > b) { pool[i] = b; pool[j] = a; }
                }
            }
            __syncthreads();
        }
    if (threadIdx.x == 0) {
        *count = n < k ? n : k;
        *floor_ = pool[k - 1];           // 0 while fewer than k were seen: everything passes
    }
    __syncthreads();
}

__global__ void __launch_bounds__(TILE)
softmax_topk(const float* __restrict__ logits, int V, int k, int* __restrict__ idx, float* __restrict__ prob) {
    __shared__ Entry pool[POOL];
    __shared__ Entry floor_;
    __shared__ int count;
    __shared__ Lse part[TILE];
    const int tid = threadIdx.x;
    const float* row = logits + (size_t)blockIdx.x * V;
    if (tid == 0) { count = 0; floor_ = 0; }
    __syncthreads();

    Lse acc{-INFINITY, 0.f};
    // The ragged part of the row comes first (base < 0), so that all other batches are full.
    const int ragged = V % BATCH;
    for (int base = ragged ? ragged - BATCH : 0; base < V; base += BATCH) {
        const Entry bar = floor_;
        float x[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            int i = base + u * TILE + tid;
            x[u] = i >= 0 ? row[i] : -INFINITY;
        }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            int i = base + u * TILE + tid;
            if (i < 0) continue;
            acc.push(x[u]);
            Entry e = pack(x[u], i);
            if (e > bar) {
                int slot = atomicAdd(&count, 1);
                if (slot < POOL) pool[slot] = e;
            }
        }
        __syncthreads();
        const int used = count;          // the same for the whole block
        __syncthreads();
        // Keep room for the next tile; the first batch always sets the floor.
        if (base <= 0 || used > POOL - TILE) compact(pool, &count, &floor_, k);
    }
    compact(pool, &count, &floor_, k);

    part[tid] = acc;
    for (int h = TILE / 2; h > 0; h /= 2) {
        __syncthreads();
        if (tid < h) part[tid] = Lse::join(part[tid], part[tid + h]);
    }
    __syncthreads();
    const Lse z = part[0];
    for (int j = tid; j < k; j += TILE) {
        idx[(size_t)blockIdx.x * k + j] = index(pool[j]);
        prob[(size_t)blockIdx.x * k + j] = expf(value(pool[j]) - z.m) / z.s;
    }
}

// logits, idx and prob are device pointers; idx and prob hold B*T*K elements.
cudaError_t run(const float* logits, int* idx, float* prob, int B, int T, int V, int K, cudaStream_t st = 0) {
    if (K < 1 || K > V || K > K_LIMIT) return cudaErrorInvalidValue;
    if (B * T == 0) return cudaSuccess;
    softmax_topk<<<B * T, TILE, 0, st>>>(logits, V, K, idx, prob);
    return cudaGetLastError();
}

}  // namespace sampler
