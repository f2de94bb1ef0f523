// style: a long row is cut into eight parts, the last of which may be shorter
// only: numerics, topk_correct

#include <cfloat>
#include <cuda_runtime.h>

namespace {

constexpr int PARTS = 8;
constexpr int LANES = 128;

struct Partial {
    float top;
    float mass;  // sum of exp(x - top) over the chunk
};

__device__ bool precedes(float a, int i, float b, int j) { return a > b || (a == b && i < j); }

// The block's best candidate that comes after (bound, bound_at) in the order of the answer.
__device__ void best_after(const float* values, const int* names, int count, float bound, int bound_at, bool first,
                           float* seen, int* seen_at) {
    float mine = -INFINITY;
    int at = -1;
    for (int i = threadIdx.x; i < count; i += LANES) {
        const float x = values[i];
        const int name = names ? names[i] : i;
        if (name < 0 || (!first && !precedes(bound, bound_at, x, name))) continue;
        if (at < 0 || precedes(x, name, mine, at)) {
            mine = x;
            at = name;
        }
    }
    seen[threadIdx.x] = mine;
    seen_at[threadIdx.x] = at;
    __syncthreads();
    for (int half = LANES / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const int other = threadIdx.x + half;
            if (seen_at[other] >= 0 &&
                (seen_at[threadIdx.x] < 0 ||
                 precedes(seen[other], seen_at[other], seen[threadIdx.x], seen_at[threadIdx.x]))) {
                seen[threadIdx.x] = seen[other];
                seen_at[threadIdx.x] = seen_at[other];
            }
        }
        __syncthreads();
    }
}

__global__ void chunk_winners(const float* logits, int vocab, int k, int chunks, int width, Partial* partials, float* values,
                              int* names) {
    __shared__ float seen[LANES];
    __shared__ int seen_at[LANES];
    const int chunk = blockIdx.y;
    const long long row = blockIdx.x;
    const int begin = chunk * width;
    const int count = min(width, vocab - begin);
    const float* x = logits + row * vocab + begin;

    float top = 0.0f;
    float bound = 0.0f;
    int bound_at = -1;
    for (int r = 0; r < k; ++r) {
        best_after(x, nullptr, count, bound, bound_at, r == 0, seen, seen_at);
        bound = seen[0];
        bound_at = seen_at[0];
        __syncthreads();
        if (r == 0) top = bound;
        if (threadIdx.x == 0) {
            const long long slot = (row * chunks + chunk) * k + r;
            values[slot] = bound;
            names[slot] = bound_at < 0 ? -1 : begin + bound_at;
        }
        if (bound_at < 0) {
            // fewer than k logits in this chunk: the rest stays empty
            for (int rest = r + 1 + threadIdx.x; rest < k; rest += LANES)
                names[(row * chunks + chunk) * k + rest] = -1;
            break;
        }
    }

    const float safe = top == -INFINITY ? 0.0f : top;
    float mass = 0.0f;
    for (int i = threadIdx.x; i < count; i += LANES) mass += expf(x[i] - safe);
    seen[threadIdx.x] = mass;
    __syncthreads();
    for (int half = LANES / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) seen[threadIdx.x] += seen[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) partials[row * chunks + chunk] = Partial{safe, seen[0]};
}

__global__ void join_chunks(const Partial* partials, const float* values, const int* names, int chunks, int k,
                            int* indices, float* probabilities) {
    __shared__ float seen[LANES];
    __shared__ int seen_at[LANES];
    const long long row = blockIdx.x;
    const Partial* mine = partials + row * chunks;
    float top = -FLT_MAX;
    for (int c = 0; c < chunks; ++c)
        if (mine[c].mass > 0.0f) top = fmaxf(top, mine[c].top);
    float mass = 0.0f;
    for (int c = 0; c < chunks; ++c)
        if (mine[c].mass > 0.0f) mass += mine[c].mass * expf(mine[c].top - top);

    float bound = 0.0f;
    int bound_at = -1;
    for (int r = 0; r < k; ++r) {
        best_after(values + row * chunks * k, names + row * chunks * k, chunks * k, bound, bound_at, r == 0, seen,
                   seen_at);
        bound = seen[0];
        bound_at = seen_at[0];
        __syncthreads();
        if (threadIdx.x == 0) {
            indices[row * k + r] = bound_at;
            probabilities[row * k + r] = expf(bound - top) / mass;
        }
    }
}

}  // namespace

cudaError_t softmax_topk(const float* logits, int* indices, float* probabilities, int rows, int vocab, int k) {
    if (k < 1 || k > 64 || k > vocab) return cudaErrorInvalidValue;
    const int chunks = vocab < 2048 ? 1 : PARTS;
    const int width = (vocab + chunks - 1) / chunks;
    const size_t slots = size_t(rows) * chunks * k;
    char* scratch = nullptr;
    const size_t bytes = size_t(rows) * chunks * sizeof(Partial) + slots * (sizeof(float) + sizeof(int));
    if (cudaError_t error = cudaMalloc(&scratch, bytes)) return error;
    Partial* partials = reinterpret_cast<Partial*>(scratch);
    float* values = reinterpret_cast<float*>(partials + size_t(rows) * chunks);
    int* names = reinterpret_cast<int*>(values + slots);

    chunk_winners<<<dim3(rows, chunks), LANES>>>(logits, vocab, k, chunks, width, partials, values, names);
    join_chunks<<<rows, LANES>>>(partials, values, names, chunks, k, indices, probabilities);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    cudaFree(scratch);
    return error;
}
