#include "sha256.h"
#include <cstring>

namespace emu {
namespace {

constexpr uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t right(uint32_t x, int n) { return x >> n | x << (32 - n); }

}  // namespace

void Sha256::block(const unsigned char* at) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++) w[i] = uint32_t(at[4 * i]) << 24 | uint32_t(at[4 * i + 1]) << 16 | uint32_t(at[4 * i + 2]) << 8 | at[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + (right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] + (right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t one = v[7] + (right(v[4], 6) ^ right(v[4], 11) ^ right(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[i] + w[i];
        uint32_t two = (right(v[0], 2) ^ right(v[0], 13) ^ right(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++) h[i] += v[i];
    // host code uses this stack next, and could compute the key from them
    explicit_bzero(w, sizeof w);
    explicit_bzero(v, sizeof v);
}

void Sha256::add(const void* data, size_t bytes) {
    const unsigned char* at = (const unsigned char*)data;
    total += bytes;
    for (; bytes; held = held == 64 ? 0 : held) {
        if (!held && bytes >= 64) {
            block(at);
            at += 64, bytes -= 64;
            continue;
        }
        size_t n = 64 - held < bytes ? 64 - held : bytes;
        memcpy(rest + held, at, n);
        held += n, at += n, bytes -= n;
        if (held == 64) block(rest);
    }
}

void Sha256::digest(unsigned char* out) {
    unsigned char end[8];
    for (int i = 0; i < 8; i++) end[i] = (unsigned char)((total << 3) >> (56 - 8 * i));
    static const unsigned char padding[64] = {0x80};
    add(padding, held < 56 ? 56 - held : 120 - held);
    add(end, sizeof end);
    for (int i = 0; i < 32; i++) out[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}

void hexadecimal(const unsigned char* digest, char* hex) {
    for (size_t i = 0; i < Sha256::BYTES; i++) hex[2 * i] = "0123456789abcdef"[digest[i] >> 4], hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    hex[2 * Sha256::BYTES] = 0;
}

void hmac(const unsigned char* key, size_t key_bytes, const char* text, size_t bytes, char* hex) {
    unsigned char pad[64], digest[Sha256::BYTES];
    Sha256 inner, outer;
    for (size_t i = 0; i < 64; i++) pad[i] = (unsigned char)((i < key_bytes ? key[i] : 0) ^ 0x36);
    inner.add(pad, sizeof pad);
    inner.add(text, bytes);
    inner.digest(digest);
    for (unsigned char& byte : pad) byte ^= 0x36 ^ 0x5c;
    outer.add(pad, sizeof pad);
    outer.add(digest, sizeof digest);
    outer.digest(digest);
    hexadecimal(digest, hex);
    // neither the key nor what was made of it stays on a stack that host code uses next
    explicit_bzero(pad, sizeof pad);
    explicit_bzero(&inner, sizeof inner);
    explicit_bzero(&outer, sizeof outer);
}

}  // namespace emu
