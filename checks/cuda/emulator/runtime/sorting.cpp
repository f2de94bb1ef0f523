// The order of keys that cub's sorts give.
#include <algorithm>
#include <cstring>
#include "emulator/abi.h"

namespace {

// A key's bits in an order that is that of the keys.
uint64_t sortable(const char* key, int bytes, int kind) {
    uint64_t raw = 0, top = uint64_t(1) << (bytes * 8 - 1), all = top | (top - 1);
    memcpy(&raw, key, size_t(bytes));
    if (kind == emu::SORT_UNSIGNED) return raw;
    if (kind == emu::SORT_SIGNED) return raw ^ top;
    if (raw == top) raw = 0;
    return raw & top ? ~raw & all : raw | top;
}

}  // namespace

extern "C" void emu_sort(const void* keys, int bytes, int kind, int* places, int n, int descending, int first, int last) {
    uint64_t mask = last - first >= 64 ? ~uint64_t(0) : (uint64_t(1) << (last - first)) - 1;
    auto value = [=](int place) { return sortable((const char*)keys + size_t(place) * size_t(bytes), bytes, kind) >> first & mask; };
    for (int i = 0; i < n; i++) places[i] = i;
    std::stable_sort(places, places + n, [=](int a, int b) { return descending ? value(b) < value(a) : value(a) < value(b); });
}
