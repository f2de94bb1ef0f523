// Variables of device memory, by number: 0 to 3 use them as a card lets them be used, in 10 to 15 host code touches them.
#include <cuda_runtime.h>
#include <cstring>

namespace {
__device__ float seen[4];
}
static __device__ int first, many = 3;
__constant__ float factors[4] = {1, 1, 1, 1};
__device__ __align__(16) float wide[4];
__device__ const float* pointer;
__device__ const float ones[4] = {1, 1, 1, 1};
__constant__ alignas(16) const int table[2] = {1, 0};
constexpr __device__ int width = 4;
template <class T> __device__ T of_a_kind[4];
__device__ __managed__ float shared_with_host[4];
__device__ float big[1 << 22];
struct Pair { int a, b; };
__device__ Pair pair{1, 2};
inline __device__ float inlined[4];

template <class T> __device__ T scaled(T x) { return x * (T)ones[0] * (T)factors[1] * (T)table[0]; }
__global__ void copy(const float* in, float* out) {
    int i = threadIdx.x;
    seen[i] = in[i], wide[i] = in[i], of_a_kind<float>[i] = in[i], shared_with_host[i] = in[i], big[i << 20] = in[i], inlined[i] = in[i];
    if (i == 0) first = pair.a + many - 4, pointer = in;
    __syncthreads();
    bool same = seen[i] == in[i] && wide[i] == in[i] && of_a_kind<float>[i] == in[i] && inlined[i] == in[i] && pointer[i] == in[i] && shared_with_host[i] == in[i];
    out[i] = same && first == 0 ? scaled(big[i << 20]) : -1;
}
__global__ void from_wide(float* out) { out[threadIdx.x] = wide[threadIdx.x]; }

extern "C" int judge_launch(const float* logits, void* indices, void* probabilities, long long rows, long long V, int K) {
    float* out = (float*)probabilities;
    float host[4] = {0, 0, 0, 0};
    void* at;
    copy<<<1, width>>>(logits, out);
    cudaDeviceSynchronize();
    switch (K) {
        case 0: return 0;
        case 1: cudaMemcpyFromSymbol(host, seen, 16), cudaMemcpyToSymbol(wide, host, 16), from_wide<<<1, 4>>>(out); return cudaDeviceSynchronize();
        case 2: cudaGetSymbolAddress(&at, wide), cudaMemset(at, 0, 16), cudaMemcpy(at, logits, 16, cudaMemcpyDeviceToDevice), from_wide<<<1, 4>>>(out); return cudaDeviceSynchronize();
        case 3: return shared_with_host[3] != 0.3f || width != 4;
        case 10: memcpy(host, seen, 16); break;
        case 11: for (int i = 0; i < 4; i++) host[i] = wide[i]; break;
        case 12: many = 7; break;
        case 13: factors[2] = 2; break;
        case 14: host[0] = big[1 << 20]; break;
        case 15: return first;
    }
    return host[0] == 77;
}
