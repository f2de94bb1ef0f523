// Fast intrinsics with the arithmetic of the card's special function unit: base two, one rounding before.
#include <cmath>

extern "C" {
float __expf(float x) noexcept { return exp2f(x * 1.4426950408889634f); }
float __exp10f(float x) noexcept { return exp2f(x * 3.3219280948873623f); }
float __logf(float x) noexcept { return log2f(x) * 0.6931471805599453f; }
float __log2f(float x) noexcept { return log2f(x); }
float __log10f(float x) noexcept { return log2f(x) * 0.3010299956639812f; }
float __sinf(float x) noexcept { return sinf(x); }
float __cosf(float x) noexcept { return cosf(x); }
float __tanf(float x) noexcept { return sinf(x) / cosf(x); }
float __powf(float x, float y) noexcept { return exp2f(y * log2f(x)); }
float rsqrtf(float x) noexcept { return 1.0f / sqrtf(x); }
double rsqrt(double x) noexcept { return 1.0 / sqrt(x); }
float normcdff(float x) noexcept { return 0.5f * erfcf(-x * 0.7071067811865476f); }
double normcdf(double x) noexcept { return 0.5 * erfc(-x * 0.7071067811865476); }
}
