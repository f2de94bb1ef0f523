// Device math: intrinsics with the accuracy that a card has, and bit casts.
#pragma once
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <climits>
#include "qualifiers.h"
#include "vectors.h"

// glibc declares these itself, with C linkage; the runtime defines them.
extern "C" {
float __expf(float) noexcept;
float __exp10f(float) noexcept;
float __logf(float) noexcept;
float __log2f(float) noexcept;
float __log10f(float) noexcept;
float __sinf(float) noexcept;
float __cosf(float) noexcept;
float __tanf(float) noexcept;
float __powf(float, float) noexcept;
float exp10f(float) noexcept;
double exp10(double) noexcept;
float rsqrtf(float) noexcept;
double rsqrt(double) noexcept;
float normcdff(float) noexcept;
double normcdf(double) noexcept;
}
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;
inline float __tanhf(float x) { return ::tanhf(x); }
inline void __sincosf(float x, float* s, float* c) { *s = ::sinf(x); *c = ::cosf(x); }
inline float __fdividef(float a, float b) { return (b > 8.507059e37f || b < -8.507059e37f) && std::isfinite(b) ? a * 0.0f : a / b; }
inline double fdivide(double a, double b) { return a / b; }
inline float fdividef(float a, float b) { return a / b; }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

#define EMU_ROUNDED(mode)                                                              \
    inline float __fadd_##mode(float a, float b) { return a + b; }                     \
    inline float __fsub_##mode(float a, float b) { return a - b; }                     \
    inline float __fmul_##mode(float a, float b) { return a * b; }                     \
    inline float __fdiv_##mode(float a, float b) { return a / b; }                     \
    inline float __fmaf_##mode(float a, float b, float c) { return ::fmaf(a, b, c); }  \
    inline float __frcp_##mode(float a) { return 1.0f / a; }                           \
    inline float __fsqrt_##mode(float a) { return ::sqrtf(a); }                        \
    inline double __dadd_##mode(double a, double b) { return a + b; }                  \
    inline double __dsub_##mode(double a, double b) { return a - b; }                  \
    inline double __dmul_##mode(double a, double b) { return a * b; }                  \
    inline double __ddiv_##mode(double a, double b) { return a / b; }                  \
    inline double __drcp_##mode(double a) { return 1.0 / a; }                          \
    inline double __dsqrt_##mode(double a) { return ::sqrt(a); }                       \
    inline double __fma_##mode(double a, double b, double c) { return ::fma(a, b, c); }
EMU_ROUNDED(rn)
EMU_ROUNDED(rz)
EMU_ROUNDED(ru)
EMU_ROUNDED(rd)
#undef EMU_ROUNDED
inline float __frsqrt_rn(float a) { return 1.0f / ::sqrtf(a); }

#define EMU_CAST(name, To, From)                \
    inline To name(From value) {                \
        To result;                              \
        __builtin_memcpy(&result, &value, sizeof(To)); \
        return result;                          \
    }
EMU_CAST(__int_as_float, float, int)
EMU_CAST(__uint_as_float, float, unsigned)
EMU_CAST(__float_as_int, int, float)
EMU_CAST(__float_as_uint, unsigned, float)
EMU_CAST(__longlong_as_double, double, long long)
EMU_CAST(__double_as_longlong, long long, double)
#undef EMU_CAST
inline int __double2hiint(double d) { return int(__double_as_longlong(d) >> 32); }
inline int __double2loint(double d) { return int(__double_as_longlong(d)); }
inline double __hiloint2double(int hi, int lo) { return __longlong_as_double((long long)(((unsigned long long)unsigned(hi) << 32) | unsigned(lo))); }

namespace emu {
// Conversions saturate, as a card's do; NaN gives zero.
template <class To, class From> inline To saturated(From v) {
    if (v != v) return 0;
    const From low = From(std::numeric_limits<To>::min()), high = -From(2) * From(std::numeric_limits<To>::min() / 2);
    const From top = low < 0 ? high : From(2) * From(std::numeric_limits<To>::max() / 2 + 1);
    if (v <= low) return std::numeric_limits<To>::min();
    return v >= top ? std::numeric_limits<To>::max() : To(v);
}
}  // namespace emu
#define EMU_CONVERT(mode, round)                                                                                     \
    inline int __float2int_##mode(float v) { return emu::saturated<int>(round(v)); }                                  \
    inline unsigned __float2uint_##mode(float v) { return emu::saturated<unsigned>(round(v)); }                       \
    inline long long __float2ll_##mode(float v) { return emu::saturated<long long>(round(v)); }                       \
    inline unsigned long long __float2ull_##mode(float v) { return emu::saturated<unsigned long long>(round(v)); }    \
    inline int __double2int_##mode(double v) { return emu::saturated<int>(round(v)); }                                \
    inline long long __double2ll_##mode(double v) { return emu::saturated<long long>(round(v)); }                     \
    inline float __int2float_##mode(int v) { return float(v); }                                                       \
    inline float __uint2float_##mode(unsigned v) { return float(v); }                                                 \
    inline float __ll2float_##mode(long long v) { return float(v); }                                                  \
    inline float __ull2float_##mode(unsigned long long v) { return float(v); }                                        \
    inline float __double2float_##mode(double v) { return float(v); }
EMU_CONVERT(rn, std::nearbyint)
EMU_CONVERT(rz, std::trunc)
EMU_CONVERT(ru, std::ceil)
EMU_CONVERT(rd, std::floor)
#undef EMU_CONVERT
inline double __int2double_rn(int v) { return v; }

inline int __clz(int v) { return v ? __builtin_clz(unsigned(v)) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline unsigned __brev(unsigned v) {
    unsigned r = 0;
    for (int i = 0; i < 32; i++) r |= ((v >> i) & 1u) << (31 - i);
    return r;
}
inline unsigned long long __brevll(unsigned long long v) { return ((unsigned long long)__brev(unsigned(v)) << 32) | __brev(unsigned(v >> 32)); }
inline int __fns(unsigned mask, unsigned base, int offset) {
    int step = offset < 0 ? -1 : 1, left = offset == 0 ? 1 : offset * step;
    for (int i = int(base); i >= 0 && i < 32; i += step) {
        if ((mask >> i) & 1u) left--;
        if (left == 0) return i;
        if (offset == 0) break;
    }
    return -1;
}
inline int __mul24(int a, int b) { return a * b; }
inline int __mulhi(int a, int b) { return int(((long long)a * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(((unsigned long long)a * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)(((unsigned __int128)a * b) >> 64); }
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) { n &= 31; return n ? (hi << n) | (lo >> (32 - n)) : hi; }
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) { n &= 31; return n ? (lo >> n) | (hi << (32 - n)) : lo; }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
    unsigned long long both = ((unsigned long long)b << 32) | a;
    unsigned r = 0;
    for (int i = 0; i < 4; i++) r |= unsigned((both >> (8 * ((s >> (4 * i)) & 7))) & 0xff) << (8 * i);
    return r;
}
inline int __sad(int a, int b, unsigned c) { return int(unsigned(a < b ? b - a : a - b) + c); }

#define EMU_ORDER(T)                                       \
    inline T min(T a, T b) { return b < a ? b : a; }       \
    inline T max(T a, T b) { return a < b ? b : a; }
EMU_ORDER(int)
EMU_ORDER(unsigned)
EMU_ORDER(long)
EMU_ORDER(unsigned long)
EMU_ORDER(long long)
EMU_ORDER(unsigned long long)
#undef EMU_ORDER
#define EMU_MIXED(T, U, R)                                                             \
    inline R min(T a, U b) { return static_cast<R>(b) < static_cast<R>(a) ? static_cast<R>(b) : static_cast<R>(a); }                       \
    inline R max(T a, U b) { return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(b) : static_cast<R>(a); }                       \
    inline R min(U a, T b) { return static_cast<R>(b) < static_cast<R>(a) ? static_cast<R>(b) : static_cast<R>(a); }                       \
    inline R max(U a, T b) { return static_cast<R>(a) < static_cast<R>(b) ? static_cast<R>(b) : static_cast<R>(a); }
EMU_MIXED(int, unsigned, unsigned)
EMU_MIXED(long, unsigned long, unsigned long)
EMU_MIXED(long long, unsigned long long, unsigned long long)
#undef EMU_MIXED
inline float min(float a, float b) { return ::fminf(a, b); }
inline float max(float a, float b) { return ::fmaxf(a, b); }
inline double min(double a, double b) { return ::fmin(a, b); }
inline double max(double a, double b) { return ::fmax(a, b); }
inline double min(float a, double b) { return ::fmin(a, b); }
inline double max(float a, double b) { return ::fmax(a, b); }
inline double min(double a, float b) { return ::fmin(a, b); }
inline double max(double a, float b) { return ::fmax(a, b); }
inline unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
inline unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
inline long long llmin(long long a, long long b) { return b < a ? b : a; }
inline long long llmax(long long a, long long b) { return a < b ? b : a; }

#ifndef CUDART_INF_F
#define CUDART_INF_F __int_as_float(0x7f800000)
#define CUDART_NAN_F __int_as_float(0x7fffffff)
#define CUDART_MIN_DENORM_F __int_as_float(0x00000001)
#define CUDART_MAX_NORMAL_F __int_as_float(0x7f7fffff)
#define CUDART_NEG_ZERO_F __int_as_float((int)0x80000000)
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#define CUDART_LNT_F 0.693147181f
#define CUDART_PI_F 3.141592654f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_INF __longlong_as_double(0x7ff0000000000000LL)
#define CUDART_NAN __longlong_as_double((long long)0xfff8000000000000ULL)
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_L2E 1.4426950408889634e+0
#define CUDART_LN2 6.9314718055994529e-1
#endif
