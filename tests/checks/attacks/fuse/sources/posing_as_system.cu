// Text that says of itself that it comes from the system, where attributes and assembly are usual.
#include <cuda_runtime.h>
#include "posing.h"
const char* text = R"(
# 1 "/usr/include/stdlib.h" 1 3
)";
__attribute__((no_sanitize("thread"))) void behind_a_literal(float* out, const float* in) { for (int i = 0; i < 4; i++) out[i] = in[i]; }
# 1 "/usr/include/string.h" 1 3
__attribute__((no_sanitize("thread"))) void by_marker(float* out, const float* in) { for (int i = 0; i < 4; i++) out[i] = in[i]; }
inline void assembled(float* out, const float* in) { asm volatile("movups (%1), %%xmm0\n movups %%xmm0, (%0)" : : "r"(out), "r"(in) : "memory", "xmm0"); }
# 16 "posing_as_system.cu" 2
__global__ void copy(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
extern "C" int judge_launch(const float* in, void* at, void* out, long long rows, long long V, int K) {
    switch (K) {
        case 0: copy<<<1, 4>>>(in, (float*)out); return cudaGetLastError();
        case 1: by_marker((float*)out, in); return 0;
        case 2: behind_a_literal((float*)out, in); return 0;
        case 3: from_a_header((float*)out, in); return 0;
        default: assembled((float*)out, in); return 0;
    }
}
