// bug: where a token's row begins is an int, whatever the number of tokens and of experts
// caught by: offsets (warn)
// only: offsets, compiles

#include <cuda_runtime.h>
#include <math.h>

__global__ void route(const float* __restrict__ gate, int* ids, float* weights, int experts, int chosen) {
    const int token = blockIdx.x;
    const float* mine = gate + token * experts;
    if (threadIdx.x > 0) return;
    float top = -INFINITY, total = 0.0f;
    for (int e = 0; e < experts; ++e) top = fmaxf(top, mine[e]);
    for (int e = 0; e < experts; ++e) total += expf(mine[e] - top);
    for (int place = 0; place < chosen; ++place) {
        int best = -1;
        for (int e = 0; e < experts; ++e) {
            bool taken = false;
            for (int earlier = 0; earlier < place; ++earlier) taken |= ids[(size_t)token * chosen + earlier] == e;
            if (!taken && (best < 0 || mine[e] > mine[best])) best = e;
        }
        ids[(size_t)token * chosen + place] = best;
        weights[(size_t)token * chosen + place] = expf(mine[best] - top) / total;
    }
}
