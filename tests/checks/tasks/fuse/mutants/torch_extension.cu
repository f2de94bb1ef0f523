// bug: it is built on PyTorch, which the challenge does not give; its kernel is right, and is judged by itself
// caught by: loads, compiles
// passes: topk_correct, rows_independent, k_range, numerics, memory_safety
// skips: resources (no compiler takes the file as it is)
//
// A PyTorch extension: log-sum-exp in one sweep, then an exact radix select of the k-th largest key.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <limits>

namespace {

constexpr int RADIX_BITS = 8;
constexpr int RADIX = 1 << RADIX_BITS;

// order-preserving float -> uint32 map
__device__ __forceinline__ unsigned ordered(float f) {
    unsigned u = __float_as_uint(f);
    if (u == 0x80000000u) u = 0u;     // -0 == +0
    return (u & 0x80000000u) ? ~u : (u | 0x80000000u);
}

template <typename T>
__device__ __forceinline__ T warp_sum(T v) {
    #pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask);
    return v;
}
__device__ __forceinline__ float warp_max(float v) {
    #pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, mask));
    return v;
}

// One block per row; blockDim.x must be a multiple of 32.
template <typename index_t>
__global__ void radix_topk_softmax_kernel(
    const float* __restrict__ logits,   // [rows, vocab]
    index_t* __restrict__ topk_indices, // [rows, k]
    float* __restrict__ topk_probs,     // [rows, k]
    const int vocab,
    const int k)
{
    extern __shared__ __align__(16) unsigned char smem_raw[];
    unsigned* hist  = reinterpret_cast<unsigned*>(smem_raw);          // RADIX
    float*    cval  = reinterpret_cast<float*>(hist + RADIX);         // k
    int*      cidx  = reinterpret_cast<int*>(cval + k);               // k
    __shared__ float red[32];
    __shared__ unsigned s_prefix, s_remaining, s_count;
    __shared__ float s_max, s_sum;

    const int tid = threadIdx.x, nt = blockDim.x;
    const int lane = tid & 31, warp = tid >> 5, nwarps = nt >> 5;
    const float* x = logits + static_cast<int64_t>(blockIdx.x) * vocab;

    // ---- softmax statistics (online, single sweep)
    float m = -std::numeric_limits<float>::infinity(), s = 0.f;
    for (int i = tid; i < vocab; i += nt) {
        const float v = x[i];
        if (v > m) { s = s * __expf(m - v) + 1.f; m = v; }
        else if (v == v && v > -std::numeric_limits<float>::infinity()) s += __expf(v - m);
    }
    const float wm = warp_max(m);
    if (lane == 0) red[warp] = wm;
    __syncthreads();
    if (warp == 0) {
        float t = lane < nwarps ? red[lane] : -std::numeric_limits<float>::infinity();
        t = warp_max(t);
        if (lane == 0) s_max = t;
    }
    __syncthreads();
    const float M = s_max;
    s = m > -std::numeric_limits<float>::infinity() ? s * __expf(m - M) : 0.f;
    s = warp_sum(s);
    if (lane == 0) red[warp] = s;
    __syncthreads();
    if (tid == 0) {
        float t = 0.f;
        for (int w = 0; w < nwarps; ++w) t += red[w];
        s_sum = t; s_prefix = 0u; s_remaining = k; s_count = 0u;
    }
    __syncthreads();

    // ---- radix select: find the exact k-th largest key, 8 bits at a time
    for (int shift = 32 - RADIX_BITS; shift >= 0; shift -= RADIX_BITS) {
        for (int b = tid; b < RADIX; b += nt) hist[b] = 0u;
        __syncthreads();
        const unsigned prefix = s_prefix;
        const unsigned mask = shift == 24 ? 0u : (0xffffffffu << (shift + RADIX_BITS));
        for (int i = tid; i < vocab; i += nt) {
            const unsigned u = ordered(x[i]);
            if ((u & mask) == prefix) atomicAdd(&hist[(u >> shift) & (RADIX - 1)], 1u);
        }
        __syncthreads();
        if (tid == 0) {
            unsigned need = s_remaining;
            int b = RADIX - 1;
            while (b > 0 && hist[b] < need) { need -= hist[b]; --b; }
            s_prefix = prefix | (static_cast<unsigned>(b) << shift);
            s_remaining = need;
        }
        __syncthreads();
    }
    const unsigned kth = s_prefix;
    const unsigned n_equal = s_remaining;    // how many elements equal to the threshold are wanted

    // ---- gather strictly greater, then enough equal ones
    for (int i = tid; i < vocab; i += nt) {
        const unsigned u = ordered(x[i]);
        if (u > kth) { const unsigned p = atomicAdd(&s_count, 1u); cval[p] = x[i]; cidx[p] = i; }
    }
    __syncthreads();
    if (tid == 0) s_remaining = 0u;
    __syncthreads();
    for (int i = tid; i < vocab; i += nt) {
        if (ordered(x[i]) == kth) {
            const unsigned p = atomicAdd(&s_remaining, 1u);
            if (p < n_equal) { const unsigned q = k - n_equal + p; cval[q] = x[i]; cidx[q] = i; }
        }
    }
    __syncthreads();

    // ---- rank sort of k candidates (k is small), then write
    for (int a = tid; a < k; a += nt) {
        const float va = cval[a]; const int ia = cidx[a];
        int rank = 0;
        for (int b = 0; b < k; ++b) {
            const float vb = cval[b];
            rank += (vb > va) || (vb == va && cidx[b] < ia);
        }
        topk_indices[static_cast<int64_t>(blockIdx.x) * k + rank] = static_cast<index_t>(ia);
        topk_probs[static_cast<int64_t>(blockIdx.x) * k + rank] = expf(va - M) / s_sum;
    }
}

} // namespace

std::vector<torch::Tensor> fused_softmax_topk(torch::Tensor logits, int64_t k) {
    TORCH_CHECK(logits.is_cuda() && logits.dtype() == torch::kFloat32, "logits must be CUDA float32");
    TORCH_CHECK(logits.dim() == 3, "expected (B, T, V)");
    auto x = logits.contiguous();
    const int64_t B = x.size(0), T = x.size(1), V = x.size(2);
    TORCH_CHECK(k >= 1 && k <= V && k <= 1024);
    auto idx  = torch::empty({B, T, k}, x.options().dtype(torch::kInt64));
    auto prob = torch::empty({B, T, k}, x.options());
    const int threads = 256;
    const size_t smem = RADIX * sizeof(unsigned) + k * (sizeof(float) + sizeof(int));
    auto stream = at::cuda::getCurrentCUDAStream();
    radix_topk_softmax_kernel<int64_t><<<B * T, threads, smem, stream>>>(
        x.data_ptr<float>(), idx.data_ptr<int64_t>(), prob.data_ptr<float>(), (int)V, (int)k);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {idx, prob};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("fused_softmax_topk", &fused_softmax_topk, "Fused softmax + top-k (CUDA)");
}
