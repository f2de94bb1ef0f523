// Text that GCC prints into its assembly as it stands: a section's name, an alias, an identity, another name.
#include <cuda_runtime.h>
#ident "x\"\n\t.globl injected_ident\ninjected_ident:\n\t.ascii \"y"
#pragma redefine_extname renamed injected_rename
extern "C" void renamed() {}
__attribute__((section(".text\n\t.globl injected_section\ninjected_section:\n#"))) int placed() { return 1; }
__attribute__((weakref("injected_weakref"))) static void weak_one();
extern "C" __attribute__((used)) void aliased() {}
__attribute__((alias("aliased\n\t.globl injected_alias\ninjected_alias:\n#"))) void other();
__attribute__((patchable_function_entry(8, 4))) void patched() {}
__attribute__((symver("injected@V1"))) void versioned() {}
__global__ void copy(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
extern "C" int judge_launch(const float* in, void* at, void* out, long long rows, long long V, int K) {
    placed(), renamed(), patched(), versioned();
    if (K == 0) copy<<<1, 4>>>(in, (float*)out);
    return cudaGetLastError();
}
