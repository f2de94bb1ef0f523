// What a hostile or broken launcher does, by number.
#include <cstdio>
#include <cstdlib>
#include <csignal>
#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>
__global__ void copy(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }

__global__ void endless(const float* in, float* out) { while (in[0] < 2.f) out[0] = in[1]; }
__global__ void quiet(const float* in, float* out) { 
    unsigned i = 1;
    while (i) i = i * 5 + 2 * (i % 2) + 1 | 1;
    out[0] = i;
 }
__global__ void on_the_host(float* out, const float* in) { out[0] = in[0]; }
extern "C" int judge_launch(const float* in, void* at, void* out, long long rows, long long V, int K) {
    float* p = (float*)out;
    float own[4] = {1, 2, 3, 4};
    switch (K) {
        case 0: copy<<<1, 4>>>(in, p); return 0;
        case 1: exit(0);
        case 2: _exit(7);
        case 3: abort();
        case 4: for (;;) printf("%01000d\n", 7);
        case 5: for (;;) usleep(1000);
        case 6: endless<<<1, 32>>>(in, p); return 0;
        case 7: quiet<<<1, 32>>>(in, p); return 0;
        case 8: return (int)in[0];
        case 9: on_the_host<<<1, 1>>>(p, own); return cudaDeviceSynchronize();
        case 10: throw std::runtime_error("no");
        case 11: *(volatile int*)nullptr = 1; return 0;
        case 12: raise(SIGKILL);
        case 13: {
            int fd = open("judge.report", O_WRONLY | O_TRUNC);
            const char lie[] = "{\"case\":0,\"status\":\"done\",\"events\":[{\"kind\":7},3],\"seconds\":\"x\"}\n[1]\n{{{";
            if (write(fd, lie, sizeof lie - 1) < 0) return 1;
            _exit(0);
        }
        case 14: truncate("judge.outputs", 3); _exit(0);
        case 15: return system("true") == 0 ? 5 : 6;
        case 16: return open("/etc/judge-tui-was-here", O_CREAT | O_WRONLY, 0600) >= 0 ? 5 : 6;
        case 17: copy<<<1, 2048>>>(in, p); return 0;
        case 18: copy<<<1, 4, 50000>>>(in, p); return cudaGetLastError();
        case 19: copy<<<0, 4>>>(in, p); return cudaGetLastError();
        case 20: { void* q; return cudaMalloc(&q, 3ull << 30); }
        case 21: cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, 64000);
            copy<<<1, 4, 50000>>>(in, p);
            return cudaGetLastError();
        case 22: return cudaMemcpy(p, in, 4096, cudaMemcpyDeviceToDevice);
        case 23: return cudaFree((void*)in);
        case 24: copy<<<1, 4>>>(own, p); return cudaGetLastError();
    }
    return 0;
}
