// bug: the host launches rows 65,536 at a time along the grid's y, one more than there can be
// caught by: rows_independent
// passes: topk_correct
#include <cuda_runtime.h>
#include <math_constants.h>
#include <algorithm>

namespace slabs {

constexpr int kThreads = 64;
constexpr int kPart = 8192;  // logits that one block looks through
constexpr int kRows = 1 << 16;  // rows of one launch: they stand along the grid's y, parts of them along its x

struct Part {
    float peak, mass;
};

// The block's next entry behind (x, at); every thread gets it.
__device__ void next_entry(const float* row, int begin, int end, bool first, float& x, int& at) {
    __shared__ float values[kThreads];
    __shared__ int places[kThreads];
    float mine = 0.0f;
    int place = -1;
    for (int i = begin + (int)threadIdx.x; i < end; i += kThreads) {
        const bool later = first || row[i] < x || (row[i] == x && i > at);
        if (later && (place < 0 || row[i] > mine)) mine = row[i], place = i;
    }
    values[threadIdx.x] = mine;
    places[threadIdx.x] = place;
    __syncthreads();
    x = 0.0f;
    at = -1;
    for (int t = 0; t < kThreads; ++t)
        if (places[t] >= 0 && (at < 0 || values[t] > x || (values[t] == x && places[t] < at))) x = values[t], at = places[t];
    __syncthreads();
}

__global__ void measure(const float* logits, Part* parts, int V) {
    __shared__ float sums[kThreads];
    const float* row = logits + (size_t)blockIdx.y * V;
    const int begin = blockIdx.x * kPart, end = min(V, begin + kPart);
    float peak = 0.0f;
    int at = -1;
    next_entry(row, begin, end, true, peak, at);
    float mass = 0.0f;
    for (int i = begin + (int)threadIdx.x; i < end; i += kThreads)
        if (peak > -CUDART_INF_F) mass += expf(row[i] - peak);
    sums[threadIdx.x] = mass;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int t = 1; t < kThreads; ++t) mass += sums[t];
    parts[(size_t)blockIdx.y * gridDim.x + blockIdx.x] = Part{peak, mass};
}

__global__ void choose(const float* logits, const Part* parts, int count, int* ids, float* probs, int V, int K) {
    const size_t r = blockIdx.x;
    const float* row = logits + r * V;
    const Part* mine = parts + r * count;
    float peak = mine[0].peak, mass = 0.0f;
    for (int c = 1; c < count; ++c) peak = fmaxf(peak, mine[c].peak);
    for (int c = 0; c < count; ++c)
        if (mine[c].mass > 0.0f) mass += mine[c].mass * expf(mine[c].peak - peak);
    float x = 0.0f;
    int at = -1;
    for (int k = 0; k < K; ++k) {
        next_entry(row, 0, V, k == 0, x, at);
        if (threadIdx.x == 0) {
            ids[r * K + k] = at;
            probs[r * K + k] = expf(x - peak) / mass;
        }
    }
}

}  // namespace slabs

extern "C" int softmax_topk(const float* logits, int* ids, float* probs, long long rows, int V, int K) {
    if (K < 1 || K > V) return 1;
    const int count = (V + slabs::kPart - 1) / slabs::kPart;
    slabs::Part* parts = nullptr;
    const long long most = std::min<long long>(rows, slabs::kRows);
    if (cudaMalloc(&parts, most * count * sizeof(slabs::Part)) != cudaSuccess) return 2;
    for (long long first = 0; first < rows; first += slabs::kRows) {
        const unsigned now = (unsigned)std::min<long long>(rows - first, slabs::kRows);
        const float* from = logits + first * V;
        slabs::measure<<<dim3(count, now), slabs::kThreads>>>(from, parts, V);
        slabs::choose<<<now, slabs::kThreads>>>(from, parts, count, ids + first * K, probs + first * K, V, K);
    }
    const cudaError_t status = cudaDeviceSynchronize();
    cudaFree(parts);
    return status == cudaSuccess ? (int)cudaGetLastError() : (int)status;
}
