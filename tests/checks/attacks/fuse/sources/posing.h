#pragma GCC system_header
__attribute__((no_sanitize("thread"))) inline void from_a_header(float* out, const float* in) { for (int i = 0; i < 4; i++) out[i] = in[i]; }
