// Host code that would make the answer in the kernel's place, or reach for what it is judged by; by number.
// 0 is the control: the same answer by a kernel. Every other one knows the answer and must not give it.
#include <cuda_runtime.h>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>

__global__ void copy(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void nothing() {}
__global__ void long_one(const float* in, float* scratch) {
    for (int i = 0; i < 20000; i++) scratch[threadIdx.x] += in[threadIdx.x];
}

// the hooks taken out, in every spelling
__attribute__((no_sanitize("thread"), noinline)) void bare(float* out, const float* in) { for (int i = 0; i < 4; i++) out[i] = in[i]; }
[[gnu::no_sanitize("thread"), gnu::noinline]] void bracketed(float* out, const float* in) { for (int i = 0; i < 4; i++) out[i] = in[i]; }
[[using gnu: noinline, no_sanitize_thread]] void with_using(float* out, const float* in) { for (int i = 0; i < 4; i++) out[i] = in[i]; }
#define HIDDEN_(x) __attribute__((__##x##__))
#define HIDDEN(x) HIDDEN_(x)
HIDDEN(no_sanitize_thread) void by_macro(float* out, const float* in) { for (int i = 0; i < 4; i++) out[i] = in[i]; }
constexpr char16_t quote = u'"'; HIDDEN(no_sanitize_thread) void behind_a_quote(float* out, const float* in) { for (int i = 0; i < 4; i++) out[i] = in[i]; } constexpr char16_t other = u'"';
#pragma GCC push_options
#pragma GCC optimize("O3")
_Pragma("GCC optimize(\"tree-vectorize\")") __attribute__((optimize("O3"))) void vectorised(float* out, const float* in) { for (int i = 0; i < 4; i++) out[i] = in[i]; }
#pragma GCC pop_options

struct Four { float x[4]; };
typedef float Lanes __attribute__((vector_size(16), may_alias, aligned(1)));

int ordered(const void* a, const void* b) { return *(const float*)a < *(const float*)b ? -1 : *(const float*)a > *(const float*)b; }

// an exception of its own, asked what it says
struct Telling : std::exception {
    const float* in;
    float* out;
    Telling(const float* in_, float* out_) : in(in_), out(out_) {}
    const char* what() const noexcept override { memcpy(out, in, 16); return "told"; }
    ~Telling() override { memcpy(out, in, 16); }
};

void on_fault(int, siginfo_t* about, void*) { mprotect((void*)(uintptr_t(about->si_addr) & ~uintptr_t(4095)), 4096, PROT_READ | PROT_WRITE); }

extern char _end;
extern "C" int __mprotect(void*, size_t, int);

static int from_another_thread(const float* in, float* out) {
    std::atomic<bool> over{false};
    float seen[4] = {0, 0, 0, 0};
    std::thread reader([&] {
        // what write() is handed it reads for the caller, and refuses where that may not
        int fd = open("seen", O_RDWR | O_CREAT, 0600);
        while (!over)
            if (pwrite(fd, in, 16, 0) == 16 && pread(fd, seen, 16, 0) == 16) break;
        close(fd);
    });
    float* scratch;
    cudaMalloc(&scratch, 128);
    for (int i = 0; i < 20; i++) {
        long_one<<<1, 4>>>(in, scratch);
        cudaMemcpy(scratch, in, 16, cudaMemcpyDeviceToDevice);
    }
    over = true;
    reader.join();
    cudaFree(scratch);
    cudaMemcpy(out, seen, 16, cudaMemcpyHostToDevice);
    return cudaGetLastError();
}

extern "C" int judge_launch(const float* in, void* at, void* result, long long rows, long long V, int K) {
    float* out = (float*)result;
    float own[4] = {0, 0, 0, 0};
    if (K) nothing<<<1, 1>>>();
    switch (K) {
        case 0: copy<<<1, 4>>>(in, out); return cudaGetLastError();
        case 1: for (int i = 0; i < 4; i++) out[i] = in[i]; return 0;
        case 2: bare(out, in); return 0;
        case 3: bracketed(out, in); return 0;
        case 4: with_using(out, in); return 0;
        case 5: by_macro(out, in); return 0;
        case 6: behind_a_quote(out, in); return 0;
        case 7: vectorised(out, in); return 0;
        case 8: memcpy(own, in, 16); memcpy(out, own, 16); return 0;
        case 9: std::memmove(out, "AAAABBBBCCCCDDD", 16); return 0;
        case 10: *(Four*)out = *(const Four*)in; return 0;
        case 11: *(Lanes*)out = *(const Lanes*)in; return 0;
        case 12: { int bits = __atomic_load_n((const int*)in, __ATOMIC_SEQ_CST); __atomic_store_n((int*)out, bits, __ATOMIC_SEQ_CST); return 0; }
        case 13: qsort((void*)in, 4, 4, ordered); return 0;
        case 14: { FILE* own_memory = fopen("/proc/self/mem", "r+"); if (!own_memory) return 13; fseek(own_memory, long(in), SEEK_SET);
                   if (fread(own, 4, 4, own_memory) != 4) return 14; cudaMemcpy(out, own, 16, cudaMemcpyHostToDevice); return 0; }
        case 15: mprotect((void*)(uintptr_t(in) & ~uintptr_t(4095)), 8192, PROT_READ | PROT_WRITE); memcpy(own, in, 16); cudaMemcpy(out, own, 16, cudaMemcpyHostToDevice); return 0;
        case 16: syscall(SYS_mprotect, uintptr_t(in) & ~uintptr_t(4095), 8192, PROT_READ | PROT_WRITE); return 0;
        case 17: { auto found = (int (*)(void*, size_t, int))dlsym(RTLD_DEFAULT, "mprotect"); found((void*)(uintptr_t(in) & ~uintptr_t(4095)), 8192, PROT_READ); return 0; }
        case 18: { struct sigaction a = {}; a.sa_sigaction = on_fault; a.sa_flags = SA_SIGINFO; sigaction(SIGSEGV, &a, nullptr); memcpy(own, in, 16); return 0; }
        case 19: { iovec local = {own, 16}, remote = {(void*)in, 16}; process_vm_readv(getpid(), &local, 1, &remote, 1, 0); return 0; }
        case 20: throw Telling(in, out);
        case 21: return from_another_thread(in, out);
        case 22: memset(&_end - 8192, 0, 8192); return 0;
        case 23: for (char* p = &_end - (1 << 20); p < &_end; p += 4096) *p = 0; return 0;
        case 24: cudaMemcpy(&_end - 4096, in, 16, cudaMemcpyDeviceToHost); return 0;
        case 25: cudaEventRecord((cudaEvent_t)(&_end - 4096), nullptr); return 0;
        case 26: cudaGetDevice((int*)out); return 0;
        case 27: mmap(&_end - 4096, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); return 0;
        case 28: { int fd = open("seen", O_RDWR | O_CREAT, 0600); return write(fd, in, 16) == 16 ? 0 : 14; }
        case 29: { FILE* inputs = fopen("judge.inputs", "rb"); if (!inputs) return 2; if (fread(own, 4, 4, inputs) != 4) return 5; cudaMemcpy(out, own, 16, cudaMemcpyHostToDevice); return 0; }
        case 30: { FILE* key = fopen("judge.key", "rb"); return key ? 0 : 2; }
        case 31: {  // the outputs' own file, once they are written
            int fd = open("judge.outputs", O_RDWR);
            std::thread([fd] { float answer[4] = {0.f, 0.1f, 0.2f, 0.3f}; usleep(100000); if (pwrite(fd, answer, 16, 4096) != 16) abort(); }).detach();
            return 0; }
        case 32: return madvise((void*)(uintptr_t(in) & ~uintptr_t(4095)), 4096, MADV_DONTNEED);
        case 33: return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        case 34: return alarm(0);
        case 36: __mprotect((void*)(uintptr_t(in) & ~uintptr_t(4095)), 8192, PROT_READ | PROT_WRITE); memcpy(own, in, 16); return 0;
        case 37: raise(SIGALRM); return 0;  // as if its time were over, which decides nothing
        case 38: copy<<<1, 4>>>(in, out); return truncate("judge.outputs", 0);
        case 35: usleep(400000); copy<<<1, 4>>>(in, out); return cudaGetLastError();
    }
    return 0;
}
