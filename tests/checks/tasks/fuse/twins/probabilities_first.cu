// style: probabilities come before indices, outputs before the input, and K before V
// style: a max-heap of lanes' heads in shared memory instead of a merge; each thread's stripe is a contiguous piece of the row

#include <cuda_runtime.h>
#include <float.h>

#define TPB 64
#define KMAX 16

__global__ void topk_kernel(float* p, int* id, const float* z, int K, int V)
{
    // every thread owns V / TPB consecutive logits: uncoalesced, but right
    __shared__ float head[TPB * KMAX];
    __shared__ int name[TPB * KMAX];
    __shared__ float m[TPB], s[TPB];

    const float* row = z + (long long)blockIdx.x * V;
    const int piece = (V + TPB - 1) / TPB;
    const int from = min(V, (int)threadIdx.x * piece), to = min(V, from + piece);
    float* h = head + threadIdx.x * KMAX;
    int* n = name + threadIdx.x * KMAX;
    int filled = 0;
    float best = -FLT_MAX, total = 0.f;

    for (int v = from; v < to; ++v) {
        const float x = row[v];
        if (x > best) { total *= expf(best - x); best = x; }
        total += expf(x - best);
        int at = filled;
        if (filled < K) ++filled;
        else if (x > h[K - 1]) at = K - 1;
        else continue;
        for (; at > 0 && h[at - 1] < x; --at) { h[at] = h[at - 1]; n[at] = n[at - 1]; }
        h[at] = x;
        n[at] = v;
    }
    m[threadIdx.x] = best;
    s[threadIdx.x] = total;
    for (int at = filled; at < K; ++at) n[at] = -1;
    __syncthreads();

    if (threadIdx.x != 0) return;
    for (int t = 1; t < TPB; ++t) best = fmaxf(best, m[t]);
    double mass = 0;
    for (int t = 0; t < TPB; ++t) mass += (double)s[t] * exp((double)m[t] - best);

    unsigned char next[TPB];
    for (int t = 0; t < TPB; ++t) next[t] = 0;
    for (int k = 0; k < K; ++k) {
        int winner = -1;
        for (int t = 0; t < TPB; ++t) {
            if (next[t] >= K || name[t * KMAX + next[t]] < 0) continue;
            if (winner < 0 || head[t * KMAX + next[t]] > head[winner * KMAX + next[winner]]) winner = t;
        }
        const int slot = winner * KMAX + next[winner]++;
        id[(long long)blockIdx.x * K + k] = name[slot];
        p[(long long)blockIdx.x * K + k] = (float)(exp((double)head[slot] - best) / mass);
    }
}

cudaError_t topk_softmax(float* probs, int* indices, const float* logits, int K, int V, int rows)
{
    if (K < 1 || K > KMAX || K > V) return cudaErrorInvalidValue;
    topk_kernel<<<rows, TPB>>>(probs, indices, logits, K, V);
    return cudaGetLastError();
}
