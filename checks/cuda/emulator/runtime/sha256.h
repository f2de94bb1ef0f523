// SHA-256 (FIPS 180-4) and its HMAC (RFC 2104).
#pragma once
#include <cstddef>
#include <cstdint>

namespace emu {

class Sha256 {
public:
    static constexpr size_t BYTES = 32;
    void add(const void* data, size_t bytes);
    void digest(unsigned char* out);

private:
    void block(const unsigned char* at);
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char rest[64];
    size_t held = 0;
    uint64_t total = 0;
};

// Hexadecimal digits of the HMAC, and a terminating zero.
void hmac(const unsigned char* key, size_t key_bytes, const char* text, size_t bytes, char* hex);
void hexadecimal(const unsigned char* digest, char* hex);
}  // namespace emu
