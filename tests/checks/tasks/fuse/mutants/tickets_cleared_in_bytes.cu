// bug: as many bytes of the tickets are cleared as there are rows, a quarter of them
// caught by: rows_independent, memory_safety
// only: rows_independent, memory_safety

#include <cuda_runtime.h>
#include <math.h>

static const int PART = 2048;
static const int THREADS = 128;
static const int MOST = 64;

struct Entry {
    float x;
    int i;
};

__device__ bool ahead(Entry a, Entry b) { return b.i < 0 || (a.i >= 0 && (a.x > b.x || (a.x == b.x && a.i < b.i))); }

// The first entry behind `last` among some; all threads get it.
__device__ Entry next_of(const float* values, const int* names, int count, int from, Entry last, Entry* seen) {
    Entry mine = {-INFINITY, -1};
    for (int j = threadIdx.x; j < count; j += THREADS) {
        Entry e = {values[j], names ? names[j] : from + j};
        if (e.i >= 0 && (last.i < 0 || ahead(last, e)) && e.i != last.i && ahead(e, mine)) mine = e;
    }
    seen[threadIdx.x] = mine;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half && ahead(seen[threadIdx.x + half], seen[threadIdx.x])) seen[threadIdx.x] = seen[threadIdx.x + half];
        __syncthreads();
    }
    Entry found = seen[0];
    __syncthreads();
    return found;
}

__global__ void parts_of_rows(const float* logits, int* indices, float* probs, int V, int K, float* values, int* names,
                              float* tops, float* masses, unsigned* tickets) {
    __shared__ Entry seen[THREADS], list[MOST];
    __shared__ float sums[THREADS];
    __shared__ bool merges;
    const int t = threadIdx.x, part = blockIdx.x, parts = gridDim.x;
    const size_t row = blockIdx.y, slot = row * parts + part;
    const int begin = part * PART, count = min(PART, V - begin);
    const float* x = logits + row * V + begin;

    Entry last = {0.f, -1};
    for (int k = 0; k < K; ++k) {
        Entry e = k < count ? next_of(x, nullptr, count, begin, last, seen) : Entry{-INFINITY, -1};
        if (t == 0) list[k] = e;
        last = e;
    }
    __syncthreads();
    const float top = list[0].x > -INFINITY ? list[0].x : 0.f;
    float sum = 0.f;
    for (int j = t; j < count; j += THREADS) sum += expf(x[j] - top);
    sums[t] = sum;
    __syncthreads();
    if (t == 0) {
        for (int u = 1; u < THREADS; ++u) sum += sums[u];
        tops[slot] = top;
        masses[slot] = sum;
    }
    const int k = THREADS - 1 - t;
    if (k < K) {
        values[slot * K + k] = list[k].x;
        names[slot * K + k] = list[k].i;
    }

    __threadfence();
    __syncthreads();
    if (t == 0) merges = atomicAdd(&tickets[row], 1u) == parts - 1;
    __syncthreads();
    if (!merges) return;
    __threadfence();

    float high = -INFINITY, mass = 0.f;
    for (int p = 0; p < parts; ++p) high = fmaxf(high, tops[row * parts + p]);
    for (int p = 0; p < parts; ++p) mass += masses[row * parts + p] * expf(tops[row * parts + p] - high);
    last = Entry{0.f, -1};
    for (int r = 0; r < K; ++r) {
        last = next_of(values + row * parts * K, names + row * parts * K, parts * K, 0, last, seen);
        if (t == 0) {
            indices[row * K + r] = last.i;
            probs[row * K + r] = expf(last.x - high) / mass;
        }
    }
}

cudaError_t topk_probabilities(const float* logits, int* indices, float* probs, int rows, int V, int K) {
    if (K < 1 || K > MOST || K > V) return cudaErrorInvalidValue;
    const int parts = (V + PART - 1) / PART;
    const size_t slots = (size_t)rows * parts;
    char* memory;
    cudaError_t error = cudaMalloc(&memory, slots * (2 * sizeof(float) + K * sizeof(Entry)) + rows * sizeof(unsigned));
    if (error) return error;
    float* tops = (float*)memory;
    float* masses = tops + slots;
    float* values = masses + slots;
    int* names = (int*)(values + slots * K);
    unsigned* tickets = (unsigned*)(names + slots * K);
    cudaMemset(tickets, 0, rows);
    parts_of_rows<<<dim3(parts, rows), THREADS>>>(logits, indices, probs, V, K, values, names, tops, masses, tickets);
    error = cudaGetLastError();
    cudaDeviceSynchronize();
    cudaFree(memory);
    return error;
}
