// bug: from K = 257 on the last entry is given again in place of others
// caught by: k_range
// passes: compiles
#include <cuda_runtime.h>
#include <cstdio>

// Block per row. Chosen indices are remembered in shared memory.
static const int THREADS = 128;
static const int MAX_K = 256;

struct Pair { float val; int idx; };

__device__ inline Pair better(Pair a, Pair b) {
  if (b.idx < 0) return a;
  if (a.idx < 0) return b;
  if (b.val > a.val || (b.val == a.val && b.idx < a.idx)) return b;
  return a;
}

__device__ Pair block_best(Pair p, Pair* buf) {
  const int t = threadIdx.x;
  buf[t] = p;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) buf[t] = better(buf[t], buf[t + half]);
    __syncthreads();
  }
  const Pair r = buf[0];
  __syncthreads();
  return r;
}

__global__ void __launch_bounds__(THREADS)
topk_rows(const float* x, int* idx_out, float* prob_out, int V, int K) {
  __shared__ Pair buf[THREADS];
  __shared__ float red[THREADS];
  __shared__ int chosen_idx[MAX_K];
  __shared__ float chosen_val[MAX_K];
  const int t = threadIdx.x;
  const size_t row = blockIdx.x;
  x += row * V;

  // online softmax statistics of this thread's part
  float m = -INFINITY, l = 0.0f;
  for (int i = t; i < V; i += THREADS) {
    const float v = x[i];
    const float mn = fmaxf(m, v);
    if (mn != -INFINITY) {
      l = l * expf(m - mn) + expf(v - mn);
      m = mn;
    }
  }
  red[t] = m;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) red[t] = fmaxf(red[t], red[t + half]);
    __syncthreads();
  }
  const float row_max = red[0];
  __syncthreads();
  red[t] = (m == -INFINITY) ? 0.0f : l * expf(m - row_max);
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) red[t] += red[t + half];
    __syncthreads();
  }
  const float denom = red[0];

  // this thread's next candidate; only the winner's thread looks again
  Pair mine{-INFINITY, -1};
  for (int i = t; i < V; i += THREADS) mine = better(mine, Pair{x[i], i});
  const int rounds = K < MAX_K ? K : MAX_K;
  for (int k = 0; k < rounds; ++k) {
    const Pair w = block_best(mine, buf);
    if (t == 0) { chosen_idx[k] = w.idx; chosen_val[k] = w.val; }
    if (w.idx == mine.idx) {
      const Pair last = mine;
      mine = Pair{-INFINITY, -1};
      for (int i = t; i < V; i += THREADS) {
        const float v = x[i];
        if (v < last.val || (v == last.val && i > last.idx)) mine = better(mine, Pair{v, i});
      }
    }
  }
  __syncthreads();
  for (int k = t; k < K; k += THREADS) {
    const int c = k < MAX_K ? k : MAX_K - 1;
    idx_out[row * K + k] = chosen_idx[c];
    prob_out[row * K + k] = expf(chosen_val[c] - row_max) / denom;
  }
}

int softmax_topk(const float* d_logits, int* d_indices, float* d_probs, int B, int T, int V, int K) {
  if (K <= 0 || K > V) return 1;
  topk_rows<<<B * T, THREADS>>>(d_logits, d_indices, d_probs, V, K);
  return cudaGetLastError() == cudaSuccess ? 0 : 2;
}
