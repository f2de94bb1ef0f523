// Sixteen-bit floats: stored as a card stores them, computed in float and rounded after every operation.
#pragma once
#include <cstring>
#include "math.h"
#include "warp.h"
#include "atomics.h"

namespace emu {

inline unsigned short to_half(float value) {
    unsigned x = __float_as_uint(value), sign = (x >> 16) & 0x8000u;
    x &= 0x7fffffffu;
    if (x > 0x7f800000u) return (unsigned short)(0x7fffu);
    if (x >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);
    if (x < 0x38800000u) {
        if (x < 0x33000000u) return (unsigned short)sign;
        unsigned exponent = x >> 23, mantissa = (x & 0x7fffffu) | 0x800000u, shift = 126 - exponent;
        unsigned kept = mantissa >> shift, rest = mantissa & ((1u << shift) - 1), middle = 1u << (shift - 1);
        if (rest > middle || (rest == middle && (kept & 1u))) kept++;
        return (unsigned short)(sign | kept);
    }
    unsigned kept = (x - 0x38000000u) >> 13, rest = x & 0x1fffu;
    if (rest > 0x1000u || (rest == 0x1000u && (kept & 1u))) kept++;
    return (unsigned short)(sign | kept);
}

inline float from_half(unsigned short h) {
    unsigned sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 0x1fu, mantissa = h & 0x3ffu;
    if (exponent == 31) return __uint_as_float(sign | 0x7f800000u | (mantissa << 13));
    if (exponent == 0) return (sign ? -1.0f : 1.0f) * float(mantissa) * 5.9604644775390625e-08f;
    return __uint_as_float(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

inline unsigned short to_bfloat(float value) {
    unsigned x = __float_as_uint(value);
    if ((x & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
    return (unsigned short)((x + 0x7fffu + ((x >> 16) & 1u)) >> 16);
}

inline float from_bfloat(unsigned short b) { return __uint_as_float(unsigned(b) << 16); }

}  // namespace emu

struct __half_raw { unsigned short x; };
struct __nv_bfloat16_raw { unsigned short x; };

#define EMU_SMALL(Type, Raw, encode, decode)                                                  \
    struct alignas(2) Type {                                                                  \
        unsigned short raw;                                                                   \
        Type() = default;                                                                     \
        Type(const Raw& r) : raw(r.x) {}                                                      \
        Type(float v) : raw(encode(v)) {}                                                     \
        Type(double v) : raw(encode(float(v))) {}                                             \
        Type(int v) : raw(encode(float(v))) {}                                                \
        Type(unsigned v) : raw(encode(float(v))) {}                                           \
        Type(long long v) : raw(encode(float(v))) {}                                          \
        Type(unsigned long long v) : raw(encode(float(v))) {}                                 \
        operator float() const { return decode(raw); }                                        \
        operator Raw() const { return Raw{raw}; }                                             \
        Type& operator=(float v) { raw = encode(v); return *this; }                           \
        Type& operator+=(Type o) { return *this = float(*this) + float(o); }                  \
        Type& operator-=(Type o) { return *this = float(*this) - float(o); }                  \
        Type& operator*=(Type o) { return *this = float(*this) * float(o); }                  \
        Type& operator/=(Type o) { return *this = float(*this) / float(o); }                  \
    };                                                                                        \
    inline Type operator+(Type a, Type b) { return Type(float(a) + float(b)); }               \
    inline Type operator-(Type a, Type b) { return Type(float(a) - float(b)); }               \
    inline Type operator*(Type a, Type b) { return Type(float(a) * float(b)); }               \
    inline Type operator/(Type a, Type b) { return Type(float(a) / float(b)); }               \
    inline Type operator-(Type a) { return Type(-float(a)); }                                 \
    inline bool operator<(Type a, Type b) { return float(a) < float(b); }                     \
    inline bool operator>(Type a, Type b) { return float(a) > float(b); }                     \
    inline bool operator<=(Type a, Type b) { return float(a) <= float(b); }                   \
    inline bool operator>=(Type a, Type b) { return float(a) >= float(b); }                   \
    inline bool operator==(Type a, Type b) { return float(a) == float(b); }                   \
    inline bool operator!=(Type a, Type b) { return float(a) != float(b); }                   \
    struct alignas(4) Type##2 {                                                               \
        Type x, y;                                                                            \
        Type##2() = default;                                                                  \
        Type##2(Type a, Type b) : x(a), y(b) {}                                               \
    };                                                                                        \
    inline Type __hadd(Type a, Type b) { return a + b; }                                      \
    inline Type __hsub(Type a, Type b) { return a - b; }                                      \
    inline Type __hmul(Type a, Type b) { return a * b; }                                      \
    inline Type __hdiv(Type a, Type b) { return a / b; }                                      \
    inline Type __hneg(Type a) { return -a; }                                                 \
    inline Type __habs(Type a) { return Type(::fabsf(float(a))); }                            \
    inline Type __hfma(Type a, Type b, Type c) { return Type(::fmaf(float(a), float(b), float(c))); } \
    inline Type __hmax(Type a, Type b) { return Type(::fmaxf(float(a), float(b))); }          \
    inline Type __hmin(Type a, Type b) { return Type(::fminf(float(a), float(b))); }          \
    inline bool __hlt(Type a, Type b) { return a < b; }                                       \
    inline bool __hgt(Type a, Type b) { return a > b; }                                       \
    inline bool __hle(Type a, Type b) { return a <= b; }                                      \
    inline bool __hge(Type a, Type b) { return a >= b; }                                      \
    inline bool __heq(Type a, Type b) { return a == b; }                                      \
    inline bool __hne(Type a, Type b) { return a != b; }                                      \
    inline bool __hisnan(Type a) { return std::isnan(float(a)); }                             \
    inline int __hisinf(Type a) { return std::isinf(float(a)) ? (float(a) < 0 ? -1 : 1) : 0; } \
    inline Type hexp(Type a) { return Type(::expf(float(a))); }                               \
    inline Type hexp2(Type a) { return Type(::exp2f(float(a))); }                             \
    inline Type hlog(Type a) { return Type(::logf(float(a))); }                               \
    inline Type hsqrt(Type a) { return Type(::sqrtf(float(a))); }                             \
    inline Type hrsqrt(Type a) { return Type(1.0f / ::sqrtf(float(a))); }                     \
    inline Type hrcp(Type a) { return Type(1.0f / float(a)); }                                \
    inline Type##2 __hadd2(Type##2 a, Type##2 b) { return {a.x + b.x, a.y + b.y}; }           \
    inline Type##2 __hsub2(Type##2 a, Type##2 b) { return {a.x - b.x, a.y - b.y}; }           \
    inline Type##2 __hmul2(Type##2 a, Type##2 b) { return {a.x * b.x, a.y * b.y}; }           \
    inline Type##2 __hmax2(Type##2 a, Type##2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; } \
    inline Type##2 __hmin2(Type##2 a, Type##2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; } \
    inline Type##2 __hfma2(Type##2 a, Type##2 b, Type##2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
    inline Type __low2##Type(Type##2 v) { return v.x; }                                       \
    inline Type __high2##Type(Type##2 v) { return v.y; }

EMU_SMALL(__half, __half_raw, emu::to_half, emu::from_half)
EMU_SMALL(__nv_bfloat16, __nv_bfloat16_raw, emu::to_bfloat, emu::from_bfloat)
#undef EMU_SMALL
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline float __half2float(__half v) { return v; }
inline __half __float2half(float v) { return __half(v); }
inline __half __float2half_rn(float v) { return __half(v); }
inline __half __double2half(double v) { return __half(v); }
inline __half __int2half_rn(int v) { return __half(v); }
inline int __half2int_rn(__half v) { return __float2int_rn(float(v)); }
inline int __half2int_rz(__half v) { return __float2int_rz(float(v)); }
inline float2 __half22float2(__half2 v) { return {float(v.x), float(v.y)}; }
inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
inline __half2 __float2half2_rn(float v) { return {__half(v), __half(v)}; }
inline __half2 __half2half2(__half v) { return {v, v}; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __half2 make_half2(__half a, __half b) { return {a, b}; }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline float __low2float(__half2 v) { return v.x; }
inline float __high2float(__half2 v) { return v.y; }
inline unsigned short __half_as_ushort(__half v) { return v.raw; }
inline short __half_as_short(__half v) { return short(v.raw); }
inline __half __ushort_as_half(unsigned short v) { return __half(__half_raw{v}); }
inline __half __short_as_half(short v) { return __half(__half_raw{(unsigned short)v}); }

inline float __bfloat162float(__nv_bfloat16 v) { return v; }
inline __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
inline __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {float(v.x), float(v.y)}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__nv_bfloat16(a), __nv_bfloat16(b)}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) { return {v, v}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
inline float __low2float(__nv_bfloat162 v) { return v.x; }
inline float __high2float(__nv_bfloat162 v) { return v.y; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.raw; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return __nv_bfloat16(__nv_bfloat16_raw{v}); }
