// Memory that both sides reach, by number: 0 is a workspace there, of which the host reads a flag; in 1 to 4 a kernel leaves the logits for it.
#include <cuda_runtime.h>
#include <cstring>
__global__ void copy(const float* in, float* out, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i]; }
extern "C" int judge_launch(const float* in, void* at, void* out, long long rows, long long V, int K) {
    float *left, *answer, mine[64];
    if (K == 2) cudaMallocHost(&left, 64 * sizeof(float));
    else cudaMallocManaged(&left, 64 * sizeof(float));
    cudaMallocManaged(&answer, 4 * sizeof(float));
    copy<<<1, 32>>>(in, left, 64);
    cudaDeviceSynchronize();
    float first = left[0];
    switch (K) {
        case 0: copy<<<1, 32>>>(left, (float*)out, 4); return cudaDeviceSynchronize() || first != first;
        case 1: case 2: for (int i = 0; i < 64; i++) mine[i] = left[i]; break;
        case 3: memcpy(mine, left, V * sizeof(float)); break;
        default: cudaMemcpy(mine, left, sizeof mine, cudaMemcpyDefault);
    }
    for (int i = 0; i < 4; i++) answer[i] = mine[i];
    copy<<<1, 32>>>(answer, (float*)out, 4);
    return cudaDeviceSynchronize();
}
