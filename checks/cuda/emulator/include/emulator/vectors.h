// Vector types with their alignment, dim3, and the built-in variables.
#pragma once
#include "abi.h"

#define EMU_VECTORS(T, N, A1, A2, A4)                          \
    struct alignas(A1) N##1 { T x; };                          \
    struct alignas(A2) N##2 { T x, y; };                       \
    struct N##3 { T x, y, z; };                                \
    struct alignas(A4) N##4 { T x, y, z, w; };                 \
    inline N##1 make_##N##1(T x) { return {x}; }               \
    inline N##2 make_##N##2(T x, T y) { return {x, y}; }       \
    inline N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; } \
    inline N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }

EMU_VECTORS(signed char, char, 1, 2, 4)
EMU_VECTORS(unsigned char, uchar, 1, 2, 4)
EMU_VECTORS(short, short, 2, 4, 8)
EMU_VECTORS(unsigned short, ushort, 2, 4, 8)
EMU_VECTORS(int, int, 4, 8, 16)
EMU_VECTORS(unsigned int, uint, 4, 8, 16)
EMU_VECTORS(float, float, 4, 8, 16)
EMU_VECTORS(long, long, 8, 16, 16)
EMU_VECTORS(unsigned long, ulong, 8, 16, 16)
EMU_VECTORS(long long, longlong, 8, 16, 16)
EMU_VECTORS(unsigned long long, ulonglong, 8, 16, 16)
EMU_VECTORS(double, double, 8, 16, 16)
#undef EMU_VECTORS

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

// Constant as each thread sees them: reading them is no access to memory that another writes.
extern const uint3 threadIdx __asm__("emu_threadIdx");
extern const uint3 blockIdx __asm__("emu_blockIdx");
extern const dim3 blockDim __asm__("emu_blockDim");
extern const dim3 gridDim __asm__("emu_gridDim");
static constexpr int warpSize = 32;
