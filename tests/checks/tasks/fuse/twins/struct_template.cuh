// right: logits and answer in structs, of which one is a template on the type of the indices
// softmax_topk.cuh -- header-only fused softmax + top-k for large vocabularies.
//
//   topk::LogitsView in{d_logits, B, T, V};
//   topk::SelectionView<int64_t> out{d_indices, d_probs, K};   // both (B, T, K)
//   cudaError_t err = topk::softmax_topk(in, out, stream);
//
// Decoding has few rows and a long vocabulary, so the vocabulary is split:
//   stage 1  one block per (row, slice): online (max, sum) of the slice and its K best
//   stage 2  one block per row: merges the statistics and the K best of all slices
// No softmax row is ever written to global memory; the temporary memory is
// rows * slices * (8 * K + 8) bytes from the stream's pool.
//
// Limits: 1 <= K <= min(V, 1024), V < 2^31 - 4096. IndexT is int32_t or int64_t.
// Order: probability descending, equal logits by ascending index. Logits of -inf have
// probability 0. NaN and +inf in the input are undefined.
#pragma once

#include <cuda_runtime.h>
#include <cstdint>

namespace topk {

struct LogitsView {
  const float* data;  // device, contiguous (batch, steps, vocab)
  int64_t batch, steps, vocab;
};

template <typename IndexT>
struct SelectionView {
  IndexT* indices;  // device, (batch, steps, k)
  float* probs;  // device, (batch, steps, k)
  int k;
};

namespace detail {

constexpr int kBlock = 256, kUnroll = 4;
constexpr int kTile = kBlock * kUnroll;
constexpr int kCapacity = 2048;
constexpr int kMaxK = kCapacity - kTile;  // a tile always fits after a cut

using Key = unsigned long long;  // 0 is smaller than the key of any float

__device__ inline float minus_infinity() { return __int_as_float(0xff800000); }

__device__ inline Key encode(float x, int index) {
  unsigned bits = x == 0.0f ? 0u : __float_as_uint(x);
  bits = (bits & 0x80000000u) ? ~bits : (bits | 0x80000000u);
  return (static_cast<Key>(bits) << 32) | (0xffffffffu - static_cast<unsigned>(index));
}

__device__ inline float decode_value(Key key) {
  const unsigned bits = static_cast<unsigned>(key >> 32);
  return __uint_as_float((bits & 0x80000000u) ? (bits & 0x7fffffffu) : ~bits);
}

__device__ inline int decode_index(Key key) {
  return static_cast<int>(0xffffffffu - static_cast<unsigned>(key));
}

// (x: max, y: sum of exp(value - max)); the neutral element is (-inf, 0).
__device__ inline float2 combine(float2 a, float2 b) {
  const float m = fmaxf(a.x, b.x);
  if (m == minus_infinity()) return make_float2(m, 0.0f);
  return make_float2(m, a.y * expf(a.x - m) + b.y * expf(b.x - m));
}

// Result valid in all threads.
__device__ inline float2 block_combine(float2 v, float2* lane_stats) {
  for (int offset = 16; offset > 0; offset >>= 1) {
    const float other_max = __shfl_xor_sync(0xffffffffu, v.x, offset);
    const float other_sum = __shfl_xor_sync(0xffffffffu, v.y, offset);
    v = combine(v, make_float2(other_max, other_sum));
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) lane_stats[threadIdx.x / 32] = v;
  __syncthreads();
  v = lane_stats[0];
  for (int w = 1; w < kBlock / 32; ++w) v = combine(v, lane_stats[w]);
  return v;
}

struct CandidateStorage {
  Key keys[kCapacity];
  int count;
};
class CandidateBuffer {
 public:
  __device__ CandidateBuffer(CandidateStorage* storage, int k)
      : st_(storage), k_(k), threshold_(0) {
    if (threadIdx.x == 0) st_->count = 0;
    __syncthreads();
  }
  // Any subset of threads, at most kUnroll times each between two settles.
  __device__ void offer(Key key) {
    if (key > threshold_) st_->keys[atomicAdd(&st_->count, 1)] = key;
  }

  // All threads together, after each tile: makes room for the next tile.
  __device__ void settle() {
    __syncthreads();
    const int n = st_->count;
    __syncthreads();  // everybody has read the count before anybody appends again
    if (n + kTile > kCapacity) cut(n);
  }

  // All threads together, at the end: keys[0..k) are the best, descending, 0 = none.
  __device__ void finish() {
    __syncthreads();
    cut(st_->count);
  }
  __device__ Key operator[](int i) const { return st_->keys[i]; }
 private:
  __device__ void cut(int n) {
    for (int i = n + threadIdx.x; i < kCapacity; i += kBlock) st_->keys[i] = 0;
    __syncthreads();
    for (int width = 2; width <= kCapacity; width *= 2) {
      for (int gap = width / 2; gap > 0; gap /= 2) {
        for (int p = threadIdx.x; p < kCapacity / 2; p += kBlock) {
          const int lo = 2 * gap * (p / gap) + p % gap;
          const Key a = st_->keys[lo], b = st_->keys[lo + gap];
          if (((lo & width) == 0) == (a < b)) {  // runs alternate, the first descends
            st_->keys[lo] = b;
            st_->keys[lo + gap] = a;
          }
        }
        __syncthreads();
      }
    }
    threshold_ = st_->keys[k_ - 1];
    if (threadIdx.x == 0) st_->count = n < k_ ? n : k_;
    __syncthreads();
  }
  CandidateStorage* st_;
  int k_;
  Key threshold_;  // K-th best key so far
};

static __global__ void __launch_bounds__(kBlock)
slice_kernel(const float* __restrict__ logits, int vocab, int k, int slices, int slice_len,
             Key* __restrict__ part_keys, float2* __restrict__ part_stats) {
  __shared__ CandidateStorage storage;
  __shared__ float2 lane_stats[kBlock / 32];
  const int64_t job = blockIdx.x;  // row * slices + slice
  const int64_t row = job / slices;
  const int64_t first = (job % slices) * static_cast<int64_t>(slice_len);
  const int begin = static_cast<int>(first < vocab ? first : vocab);
  const int end = vocab - begin < slice_len ? vocab : begin + slice_len;
  const float* x = logits + row * vocab;
  CandidateBuffer best(&storage, k);
  float2 stats = make_float2(minus_infinity(), 0.0f);

  for (int base = begin; base < end; base += kTile) {
    float v[kUnroll];
    float tile_max = minus_infinity();
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const int i = base + u * kBlock + static_cast<int>(threadIdx.x);
      v[u] = i < end ? x[i] : minus_infinity();
      tile_max = fmaxf(tile_max, v[u]);
      if (i < end) best.offer(encode(v[u], i));
    }
    float tile_sum = 0.0f;
    if (tile_max > minus_infinity())
      for (int u = 0; u < kUnroll; ++u) tile_sum += expf(v[u] - tile_max);
    stats = combine(stats, make_float2(tile_max, tile_sum));
    best.settle();
  }
  best.finish();
  stats = block_combine(stats, lane_stats);
  for (int i = threadIdx.x; i < k; i += kBlock) part_keys[job * k + i] = best[i];
  if (threadIdx.x == 0) part_stats[job] = stats;
}

template <typename IndexT>
__global__ void __launch_bounds__(kBlock)
merge_kernel(const Key* __restrict__ part_keys, const float2* __restrict__ part_stats, int k,
             int slices, IndexT* __restrict__ indices, float* __restrict__ probs) {
  __shared__ CandidateStorage storage;
  __shared__ float2 lane_stats[kBlock / 32];
  const int64_t row = blockIdx.x;
  float2 stats = make_float2(minus_infinity(), 0.0f);
  for (int s = threadIdx.x; s < slices; s += kBlock)
    stats = combine(stats, part_stats[row * slices + s]);
  stats = block_combine(stats, lane_stats);
  CandidateBuffer best(&storage, k);
  const Key* keys = part_keys + row * slices * k;
  const int total = slices * k;
  for (int base = 0; base < total; base += kBlock) {
    const int i = base + static_cast<int>(threadIdx.x);
    if (i < total) best.offer(keys[i]);  // empty places are 0, never above a threshold
    best.settle();
  }
  best.finish();
  for (int i = threadIdx.x; i < k; i += kBlock) {
    const float v = decode_value(best[i]);
    indices[row * k + i] = static_cast<IndexT>(decode_index(best[i]));
    probs[row * k + i] = v > minus_infinity() ? expf(v - stats.x) / stats.y : 0.0f;
  }
}

}  // namespace detail

// Asynchronous on `stream`; needs a device with memory pools (CUDA 11.2 or newer).
template <typename IndexT>
cudaError_t softmax_topk(const LogitsView& in, const SelectionView<IndexT>& out,
                         cudaStream_t stream = nullptr) {
  using namespace detail;
  if (in.batch < 0 || in.steps < 0 || in.vocab < 1 || in.vocab >= 0x7fffffffLL - 4096 ||
      out.k < 1 || out.k > in.vocab || out.k > kMaxK)
    return cudaErrorInvalidValue;
  const int64_t rows = in.batch * in.steps;
  if (rows == 0) return cudaSuccess;
  if (!in.data || !out.indices || !out.probs) return cudaErrorInvalidValue;
  int device = 0, sms = 0;
  cudaError_t err = cudaGetDevice(&device);
  if (err == cudaSuccess)
    err = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (err != cudaSuccess) return err;
  // About four blocks per SM, but no slice shorter than four tiles.
  int64_t slices = (4LL * sms + rows - 1) / rows;
  const int64_t most = (in.vocab + 4 * kTile - 1) / (4 * kTile);
  slices = slices > most ? most : slices;
  const int slice_len = static_cast<int>((in.vocab + slices - 1) / slices);
  const int64_t jobs = rows * slices;
  if (jobs > 0x7fffffffLL) return cudaErrorInvalidValue;
  // float2 first: both parts stay aligned to 8 bytes.
  const size_t stats_bytes = static_cast<size_t>(jobs) * sizeof(float2);
  const size_t keys_bytes = static_cast<size_t>(jobs) * out.k * sizeof(Key);
  void* scratch = nullptr;
  err = cudaMallocAsync(&scratch, stats_bytes + keys_bytes, stream);
  if (err != cudaSuccess) return err;
  float2* part_stats = static_cast<float2*>(scratch);
  Key* part_keys = reinterpret_cast<Key*>(static_cast<char*>(scratch) + stats_bytes);

  slice_kernel<<<static_cast<unsigned>(jobs), kBlock, 0, stream>>>(
      in.data, static_cast<int>(in.vocab), out.k, static_cast<int>(slices), slice_len, part_keys,
      part_stats);
  err = cudaGetLastError();
  if (err == cudaSuccess) {
    merge_kernel<IndexT><<<static_cast<unsigned>(rows), kBlock, 0, stream>>>(
        part_keys, part_stats, out.k, static_cast<int>(slices), out.indices, out.probs);
    err = cudaGetLastError();
  }
  const cudaError_t freed = cudaFreeAsync(scratch, stream);
  return err != cudaSuccess ? err : freed;
}

}  // namespace topk
