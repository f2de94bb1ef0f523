// CUDA's keywords for the host's compiler. `__shared__` and `__noinline__` are rewritten in the
// text: the first may follow `extern`, the second is an attribute's name in the standard library.
// `__device__` and `__constant__` are attributes, as in CUDA's own headers: the rewriting stores variables
// that have them apart, and takes them from everything else.
#pragma once
#include "abi.h"

#define __global__ __attribute__((noinline))
#define __device__ __attribute__((device))
#define __host__
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __nv_pure__
#define CUDARTAPI
#define CUDART_CB

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_ARCH__ 800
#define CUDA_VERSION 12040
#define CUDART_VERSION 12040
// For submissions that want to know; none needs to.
#define __CUDA_EMULATOR__ 1

// Loads and stores that are not instrumented: emu_access has checked them. EMU_UNWATCHED is a name that changes with every
// build and is taken back before the submission's text begins (guarding.py).
namespace emu {
#define EMU_PLAIN __attribute__((EMU_UNWATCHED, noinline))
template <class T> EMU_PLAIN T load(const T* p) { return *p; }
template <class T> EMU_PLAIN void store(T* p, T value) { *p = value; }
#undef EMU_PLAIN
#undef EMU_UNWATCHED

// The block's dynamic shared memory, as an array of whatever it is declared to be.
extern "C" unsigned char emu_dynamic[];
struct Dynamic {
    template <class T> operator T&() const { return *reinterpret_cast<T*>(emu_dynamic); }
};
}  // namespace emu
