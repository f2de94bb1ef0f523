// bug: the maximum is found by atomicMax on the bits of floats, whose order is turned below zero
// caught by: numerics
// passes: compiles
// Softmax + top-k of (B, T, V) logits. One block per row; the row is read from global
// memory once per candidate round, nothing of size V is written.
#include <cuda_runtime.h>
#include <cfloat>
#include <math.h>

namespace fused {

constexpr int kThreads = 256;
constexpr int kSlots = 8;      // candidates that a thread keeps of its stripe per sweep

__device__ __forceinline__ int as_key(float v) { return __float_as_int(v); }
__device__ __forceinline__ float from_key(int k) { return __int_as_float(k); }

__device__ __forceinline__ bool before(float a, int ia, float b, int ib) {
  return a > b || (a == b && ia < ib);
}

__global__ void softmax_topk_kernel(const float* __restrict__ logits, int* __restrict__ indices,
                                    float* __restrict__ probs, int V, int K) {
  const long long row = blockIdx.x;
  const float* x = logits + row * V;
  int* out_i = indices + row * K;
  float* out_p = probs + row * K;

  __shared__ int s_max;
  __shared__ float s_part[kThreads / 32];
  __shared__ float s_val[kThreads / 32];
  __shared__ int s_idx[kThreads / 32];
  __shared__ float s_sum;

  if (threadIdx.x == 0) s_max = as_key(-FLT_MAX);
  __syncthreads();
  float m = -FLT_MAX;
  for (int i = threadIdx.x; i < V; i += kThreads) m = fmaxf(m, x[i]);
  atomicMax(&s_max, as_key(m));
  __syncthreads();
  const float row_max = from_key(s_max);

  float part = 0.f;
  for (int i = threadIdx.x; i < V; i += kThreads) part += expf(x[i] - row_max);
  for (int o = 16; o > 0; o >>= 1) part += __shfl_xor_sync(0xffffffffu, part, o);
  if ((threadIdx.x & 31) == 0) s_part[threadIdx.x >> 5] = part;
  __syncthreads();
  if (threadIdx.x == 0) {
    float t = 0.f;
    for (int w = 0; w < kThreads / 32; ++w) t += s_part[w];
    s_sum = t;
  }
  __syncthreads();

  // every thread holds the best of its own stripe that lie behind the last one taken
  float mine_v[kSlots];
  int mine_i[kSlots];
  int have = 0, used = 0;
  bool exhausted = false;
  float low_v = INFINITY;
  int low_i = -1;
  for (int k = 0; k < K; ++k) {
    if (used == have && !exhausted) {
      have = used = 0;
      for (int i = threadIdx.x; i < V; i += kThreads) {
        const float v = x[i];
        if (!before(low_v, low_i, v, i)) continue;
        if (have == kSlots && !before(v, i, mine_v[kSlots - 1], mine_i[kSlots - 1])) continue;
        int p = have < kSlots ? have++ : kSlots - 1;
        while (p > 0 && before(v, i, mine_v[p - 1], mine_i[p - 1])) {
          mine_v[p] = mine_v[p - 1];
          mine_i[p] = mine_i[p - 1];
          --p;
        }
        mine_v[p] = v;
        mine_i[p] = i;
      }
      if (have == 0) exhausted = true;
    }
    float v = used < have ? mine_v[used] : -INFINITY;
    int i = used < have ? mine_i[used] : 0x7fffffff;
    for (int o = 16; o > 0; o >>= 1) {
      const float ov = __shfl_xor_sync(0xffffffffu, v, o);
      const int oi = __shfl_xor_sync(0xffffffffu, i, o);
      if (before(ov, oi, v, i)) { v = ov; i = oi; }
    }
    if ((threadIdx.x & 31) == 0) { s_val[threadIdx.x >> 5] = v; s_idx[threadIdx.x >> 5] = i; }
    __syncthreads();
    v = s_val[0];
    i = s_idx[0];
    for (int w = 1; w < kThreads / 32; ++w)
      if (before(s_val[w], s_idx[w], v, i)) { v = s_val[w]; i = s_idx[w]; }
    if (used < have && mine_i[used] == i) { low_v = v; low_i = i; ++used; }
    if (threadIdx.x == 0) {
      out_i[k] = i;
      out_p[k] = expf(v - row_max) / s_sum;
    }
    __syncthreads();
  }
}

}  // namespace fused

cudaError_t launch_softmax_topk(const float* logits, int* indices, float* probs,
                                int B, int T, int V, int K, cudaStream_t stream) {
  if (K < 1 || K > V) return cudaErrorInvalidValue;
  if (B * T == 0) return cudaSuccess;
  fused::softmax_topk_kernel<<<B * T, fused::kThreads, 0, stream>>>(logits, indices, probs, V, K);
  return cudaGetLastError();
}
