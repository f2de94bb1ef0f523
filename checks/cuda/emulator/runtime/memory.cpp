// Device memory: an arena in which every allocation stands between guard zones.
#include <cstring>
#include <sys/mman.h>
#include "state.h"
#include "walls.h"

namespace emu {
namespace {

constexpr size_t ARENA = size_t(2) << 30, OF_HOST = size_t(1) << 30, GUARD = 64 << 10, ALIGNMENT = 256, POISONED = 4096;
constexpr int MOST = 4096;

uintptr_t arena = 0;
size_t used = 0, peak = 0, reserved = 0;
Allocation table[MOST];  // by address; what is freed leaves a hole that is filled first
int count = 0;
int last = 0;

size_t rounded(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

void poison(uintptr_t from, size_t bytes) {
    for (size_t i = 0; i + 4 <= bytes; i += 4) *(uint32_t*)(from + i) = POISON;
}

// The first gap between two addresses that holds the bytes between two guard zones; -1 when there is none.
int gap(size_t bytes, uintptr_t low, uintptr_t high, uintptr_t* base) {
    uintptr_t from = low + GUARD;
    for (int i = 0; i <= count; i++) {
        if (i < count && table[i].base < low) continue;
        uintptr_t to = i < count && table[i].base < high ? table[i].base : high;
        if (from + rounded(bytes) + GUARD <= to) {
            *base = from;
            return i;
        }
        if (to == high) break;
        from = table[i].base + rounded(table[i].bytes) + GUARD;
    }
    return -1;
}

}  // namespace

void make_arena() {
    // what the host may read as well stands behind the device's own
    void* memory = mmap(nullptr, ARENA + OF_HOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    arena = memory == MAP_FAILED ? 0 : uintptr_t(memory);
    if (arena) enclose(Wall::DEVICE, memory, ARENA);
}

Allocation* allocate(size_t bytes, Where where, const char* name, bool host) {
    uintptr_t base, low = host ? arena + ARENA : arena, high = host ? low + OF_HOST : low + ARENA;
    int place = arena && count < MOST && bytes < high - low ? gap(bytes ? bytes : 1, low, high, &base) : -1;
    if (place < 0) return nullptr;
    memmove(table + place + 1, table + place, size_t(count - place) * sizeof(Allocation));
    count++;
    last = place;
    table[place] = {base, bytes, where, name, host, false, false, false, false};
    poison(base - POISONED, rounded(bytes) + 2 * POISONED);
    used += bytes;
    if (used > peak) peak = used;
    return &table[place];
}

bool release(uintptr_t base) {
    for (int i = 0; i < count; i++) {
        if (table[i].base != base) continue;
        if (table[i].ours) return false;
        used -= table[i].bytes;
        poison(base, table[i].bytes);
        memmove(table + i, table + i + 1, size_t(count - i - 1) * sizeof(Allocation));
        count--;
        last = 0;
        return true;
    }
    return false;
}

void release_ours() {
    for (int i = count - 1; i >= 0; i--) {
        if (!table[i].ours) continue;
        table[i].ours = false;
        release(table[i].base);
    }
}

bool in_arena(uintptr_t address) { return address - arena < ARENA + OF_HOST; }

bool in_device(uintptr_t address) { return address - arena < ARENA; }

Allocation* find(uintptr_t address) {
    if (last < count && address - table[last].base < table[last].bytes) return &table[last];
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle].base <= address) low = middle + 1;
        else high = middle;
    }
    if (low == 0 || address - table[low - 1].base >= table[low - 1].bytes) return nullptr;
    last = low - 1;
    return &table[last];
}

Allocation* nearest(uintptr_t address) {
    Allocation* found = nullptr;
    size_t best = GUARD;
    for (int i = 0; i < count; i++) {
        uintptr_t end = table[i].base + table[i].bytes;
        size_t away = address < table[i].base ? table[i].base - address : address - end + 1;
        if (away <= best) best = away, found = &table[i];
    }
    return found;
}

size_t peak_bytes() { return peak - reserved; }
void reset_peak() { reserved = used, peak = used; }

}  // namespace emu
