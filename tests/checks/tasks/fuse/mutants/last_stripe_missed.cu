// bug: every thread takes V / blockDim.x logits; the last V % blockDim.x are never read
// caught by: topk_correct, numerics

#include <cuda_runtime.h>
#include <float.h>

#define BLOCK_DIM 128
#define MAX_TOPK 50

struct TopK {
    float p[MAX_TOPK];
    int id[MAX_TOPK];
    int n;
};

__device__ void insert(TopK* list, int K, float x, int id) {
    if (list->n == K && x <= list->p[K - 1]) return;
    int i = list->n < K ? list->n++ : K - 1;
    while (i > 0 && list->p[i - 1] < x) {
        list->p[i] = list->p[i - 1];
        list->id[i] = list->id[i - 1];
        i--;
    }
    list->p[i] = x;
    list->id[i] = id;
}

__global__ void fused_softmax_topk_kernel(const float* logits, int* out_ids, float* out_probs, int V, int K) {
    extern __shared__ unsigned char raw[];
    float* shared_max = (float*)raw;
    float* shared_sum = shared_max + BLOCK_DIM;
    float* shared_val = shared_sum + BLOCK_DIM;
    int* shared_id = (int*)(shared_val + BLOCK_DIM);

    const float* row = logits + (size_t)blockIdx.x * V;
    const int per_thread = V / BLOCK_DIM;
    TopK list;
    list.n = 0;
    float m = -FLT_MAX, d = 0.0f;
    for (int step = 0; step < per_thread; step++) {
        const int v = step * BLOCK_DIM + threadIdx.x;
        const float x = row[v];
        if (x > m) {
            d *= expf(m - x);
            m = x;
        }
        d += expf(x - m);
        insert(&list, K, x, v);
    }
    shared_max[threadIdx.x] = m;
    shared_sum[threadIdx.x] = d;
    __syncthreads();
    float M = -FLT_MAX, D = 0.0f;
    for (int t = 0; t < BLOCK_DIM; t++) M = fmaxf(M, shared_max[t]);
    for (int t = 0; t < BLOCK_DIM; t++) D += shared_sum[t] * expf(shared_max[t] - M);
    __syncthreads();

    int head = 0;
    for (int k = 0; k < K; k++) {
        shared_val[threadIdx.x] = head < list.n ? list.p[head] : -INFINITY;
        shared_id[threadIdx.x] = head < list.n ? list.id[head] : -1;
        __syncthreads();
        if (threadIdx.x == 0) {
            int first = 0;
            for (int t = 1; t < BLOCK_DIM; t++)
                if (shared_id[t] >= 0 && (shared_id[first] < 0 || shared_val[t] > shared_val[first])) first = t;
            shared_max[0] = (float)first;
        }
        __syncthreads();
        const int best = (int)shared_max[0];
        if (best == threadIdx.x) {
            head++;
            out_ids[(size_t)blockIdx.x * K + k] = shared_id[best];
            out_probs[(size_t)blockIdx.x * K + k] = expf(shared_val[best] - M) / D;
        }
        __syncthreads();
    }
}

cudaError_t fused_softmax_topk(const float* logits, int* ids, float* probs, int num_rows, int V, int K) {
    if (K < 1 || K > MAX_TOPK || V < K || V < BLOCK_DIM) return cudaErrorInvalidValue;
    fused_softmax_topk_kernel<<<num_rows, BLOCK_DIM, 4 * BLOCK_DIM * sizeof(float)>>>(logits, ids, probs, V, K);
    return cudaGetLastError();
}
