// right: the vocabulary is split over blocks; a first call says how much scratch memory the second one wants
// Softmax + top-k with the vocabulary split over several blocks.
//
// With few rows (decoding: B*T small) one block per row leaves most SMs idle, so
// each row is cut into `splits` slices:
//   stage 1  grid (splits, rows): a slice's running max, sum and K best candidates
//            go to scratch memory, splits * (K + 1) words of 8 bytes per row;
//   stage 2  grid (rows): merges the slices of a row and writes the answer.
//
// Calling convention as in CUB: call once with scratch == nullptr to learn
// scratch_bytes, allocate, call again.
//
//   size_t bytes = 0;
//   fused_topk_probs(nullptr, bytes, d_logits, d_prob, d_idx, B, T, V, K);
//   cudaMalloc(&scratch, bytes);
//   fused_topk_probs(scratch, bytes, d_logits, d_prob, d_idx, B, T, V, K, stream);
//
// Supported: 1 <= K <= min(V, 256), V up to 2^30.  Equal logits are ordered by index.
#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace {

using u32 = unsigned int;
using u64 = unsigned long long;

constexpr int BLOCK = 256;
constexpr int BEST = 256;              // room for the K best, K <= BEST
constexpr int PENDING = 768;           // room for candidates not yet merged
constexpr int POOL = BEST + PENDING;   // sorted together; a power of two
constexpr int MIN_SLICE = 4096;        // do not cut slices shorter than this
constexpr int MAX_SPLITS = 64;

struct Stat {
    float m;  // maximum
    float l;  // sum of exp(x - m)
};

__device__ __forceinline__ Stat join(Stat a, Stat b) {
    Stat c;
    c.m = fmaxf(a.m, b.m);
    if (c.m == -INFINITY) {
        c.l = 0.f;
        return c;
    }
    c.l = a.l * __expf(a.m - c.m) + b.l * __expf(b.m - c.m);
    return c;
}

// A candidate is one 64-bit integer: ordered logit in the high half, complement
// of the index in the low half.  Larger is better; 0 is "none".
__device__ __forceinline__ u64 pack(float x, u32 index) {
    u32 bits = __float_as_uint(x == 0.f ? 0.f : x);
    bits = (bits >> 31) ? ~bits : (bits | 0x80000000u);
    return (static_cast<u64>(bits) << 32) | static_cast<u64>(~index);
}

__device__ __forceinline__ float logit_of(u64 c) {
    const u32 bits = static_cast<u32>(c >> 32);
    return __uint_as_float((bits >> 31) ? (bits & 0x7fffffffu) : ~bits);
}

__device__ __forceinline__ u32 index_of(u64 c) { return ~static_cast<u32>(c); }

// The K best candidates a block has met.  pool[0, BEST) is sorted, best first,
// as of the last flush; pool[BEST, BEST + *count) is pending.
struct BlockPool {
    u64* pool;
    int* count;
    u64 bar;  // the K-th best at the last flush: nothing below it can matter
    int k;

    __device__ void init(u64* storage, int* counter, int k_) {
        pool = storage;
        count = counter;
        k = k_;
        bar = 0;
        for (int i = threadIdx.x; i < POOL; i += BLOCK) pool[i] = 0;
        if (threadIdx.x == 0) *count = 0;
        __syncthreads();
    }

    // Called by all threads, each with at most one candidate (0: none).
    __device__ void offer(u64 c) {
        if (c > bar) pool[BEST + atomicAdd(count, 1)] = c;
        __syncthreads();
        const bool full = *count > PENDING - BLOCK;  // the next offer might not fit
        __syncthreads();
        if (full) flush();
    }

    __device__ void flush() {
        for (int size = 2; size <= POOL; size <<= 1) {
            for (int step = size >> 1; step > 0; step >>= 1) {
                for (int t = threadIdx.x; t < POOL / 2; t += BLOCK) {
                    const int i = 2 * t - (t & (step - 1));
                    const int j = i + step;
                    const u64 a = pool[i], b = pool[j];
                    const bool best_first = (i & size) == 0;
                    if (best_first ? a < b : a > b) {
                        pool[i] = b;
                        pool[j] = a;
                    }
                }
                __syncthreads();
            }
        }
        bar = pool[k - 1];
        for (int i = BEST + threadIdx.x; i < POOL; i += BLOCK) pool[i] = 0;
        if (threadIdx.x == 0) *count = 0;
        __syncthreads();
    }
};

__device__ Stat block_join(Stat s) {
    __shared__ Stat part[BLOCK / 32];
    for (int d = 16; d; d >>= 1) {
        Stat o;
        o.m = __shfl_down_sync(0xffffffffu, s.m, d);
        o.l = __shfl_down_sync(0xffffffffu, s.l, d);
        s = join(s, o);
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    s = part[0];
    for (int w = 1; w < BLOCK / 32; ++w) s = join(s, part[w]);
    return s;
}

__global__ void __launch_bounds__(BLOCK)
slice_kernel(const float* __restrict__ logits, int V, int K, int splits, int slice,
             u64* __restrict__ cand, Stat* __restrict__ stats) {
    __shared__ u64 storage[POOL];
    __shared__ int counter;
    const size_t row = blockIdx.x / splits;
    const int part = blockIdx.x % splits;
    const float* x = logits + row * V;
    const int begin = part * slice;  // no overflow: part * slice < V, see plan()
    const int end = V - begin < slice ? V : begin + slice;

    BlockPool top;
    top.init(storage, &counter, K);
    Stat s{-INFINITY, 0.f};
    const int rounds = (end - begin + BLOCK - 1) / BLOCK;
    for (int r = 0; r < rounds; ++r) {
        const int offset = r * BLOCK + static_cast<int>(threadIdx.x);
        u64 c = 0;
        if (offset < end - begin) {
            const float v = x[begin + offset];
            s = join(s, Stat{v, v == -INFINITY ? 0.f : 1.f});
            c = pack(v, static_cast<u32>(begin + offset));
        }
        top.offer(c);
    }
    top.flush();
    s = block_join(s);

    const size_t out = row * splits + part;
    for (int i = threadIdx.x; i < K; i += BLOCK) cand[out * K + i] = storage[i];
    if (threadIdx.x == 0) stats[out] = s;
}

__global__ void __launch_bounds__(BLOCK)
merge_kernel(const u64* __restrict__ cand, const Stat* __restrict__ stats, int K, int splits,
             float* __restrict__ probs, std::int64_t* __restrict__ indices) {
    __shared__ u64 storage[POOL];
    __shared__ int counter;
    const size_t row = blockIdx.x;

    BlockPool top;
    top.init(storage, &counter, K);
    const u64* c = cand + row * splits * K;
    const int n = splits * K;
    for (int base = 0; base < n; base += BLOCK) {
        const int i = base + static_cast<int>(threadIdx.x);
        top.offer(i < n ? c[i] : 0);
    }
    top.flush();

    Stat s{-INFINITY, 0.f};
    for (int i = threadIdx.x; i < splits; i += BLOCK) s = join(s, stats[row * splits + i]);
    s = block_join(s);

    for (int i = threadIdx.x; i < K; i += BLOCK) {
        const float v = logit_of(storage[i]);
        probs[row * K + i] = v == -INFINITY ? 0.f : __expf(v - s.m) / s.l;
        indices[row * K + i] = static_cast<std::int64_t>(index_of(storage[i]));
    }
}

// Cut V into slices of equal length (the last may be shorter, none is empty).
void plan(long long rows, int V, int sms, int* splits, int* slice) {
    long long want = rows > 0 ? (4LL * sms + rows - 1) / rows : 1;
    const long long most = (static_cast<long long>(V) + MIN_SLICE - 1) / MIN_SLICE;
    if (want > most) want = most;
    if (want > MAX_SPLITS) want = MAX_SPLITS;
    if (want < 1) want = 1;
    *slice = static_cast<int>((V + want - 1) / want);
    *splits = static_cast<int>((static_cast<long long>(V) + *slice - 1) / *slice);
}

}  // namespace

/// Two-phase entry point, see the head of the file.
/// All pointers are device pointers; logits (B,T,V), probs and indices (B,T,K), row-major.
/// Returns cudaErrorInvalidValue for unsupported sizes or too small a scratch buffer.
cudaError_t fused_topk_probs(void* scratch, std::size_t& scratch_bytes, const float* logits,
                             float* probs, std::int64_t* indices, int B, int T, int V, int K,
                             cudaStream_t stream = 0) {
    if (B < 0 || T < 0 || V < 1 || V > (1 << 30) || K < 1 || K > BEST || K > V) return cudaErrorInvalidValue;
    const long long rows = static_cast<long long>(B) * T;

    int device = 0, sms = 0;
    cudaError_t err = cudaGetDevice(&device);
    if (err != cudaSuccess) return err;
    err = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (err != cudaSuccess) return err;

    int splits = 1, slice = V;
    plan(rows, V, sms, &splits, &slice);
    if (rows * splits > 2147483647LL) return cudaErrorInvalidValue;

    const std::size_t cells = static_cast<std::size_t>(rows) * splits;
    const std::size_t need = cells * K * sizeof(u64) + cells * sizeof(Stat) + 1;
    if (scratch == nullptr) {
        scratch_bytes = need;
        return cudaSuccess;
    }
    if (scratch_bytes < need) return cudaErrorInvalidValue;
    if (rows == 0) return cudaSuccess;

    u64* cand = static_cast<u64*>(scratch);
    Stat* stats = reinterpret_cast<Stat*>(cand + cells * K);
    slice_kernel<<<static_cast<u32>(cells), BLOCK, 0, stream>>>(logits, V, K, splits, slice, cand, stats);
    err = cudaGetLastError();
    if (err != cudaSuccess) return err;
    merge_kernel<<<static_cast<u32>(rows), BLOCK, 0, stream>>>(cand, stats, K, splits, probs, indices);
    return cudaGetLastError();
}
