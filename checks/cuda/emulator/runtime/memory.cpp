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

// What was allocated and freed since the launch began: how much of it holds the logits once more shows later.
struct Change {
    long bytes;
    int made;  // the change that made the allocation; itself where it is older than the launch
    bool copy;
};
constexpr int CHANGES = 1 << 14;
Change changes[CHANGES];
int changed = 0;
int count = 0;
int last = 0;

int note(long bytes, int made) {
    if (changed == CHANGES) return -1;
    changes[changed] = {bytes, made < 0 ? changed : made, false};
    return changed++;
}

// Whether it holds the caller's logits, whole, and no kernel has written into it.
bool is_copy(const Allocation& its) { return its.copy && !its.written; }

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
    table[place] = {base, bytes, where, name, note(long(bytes), -1), host, false, false, false, false, false, {0, 0}};
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
        if (table[i].made >= 0) changes[table[i].made].copy = is_copy(table[i]);
        note(-long(table[i].bytes), table[i].made);
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

Allocation* allocation(int number) { return number < count ? &table[number] : nullptr; }

bool in_arena(uintptr_t address) { return address - arena < ARENA + OF_HOST; }

bool in_device(uintptr_t address) { return within(Wall::DEVICE, address, 1); }

const char* device_name(uintptr_t address) { return in_arena(address) ? "device memory" : "a __device__ or __constant__ variable"; }

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

// Copies of the caller's logits are left out: a launcher that takes host memory brings them to the device.
size_t peak_bytes() {
    if (changed == CHANGES) return peak - reserved;
    for (int i = 0; i < count; i++)
        if (table[i].made >= 0) changes[table[i].made].copy = is_copy(table[i]);
    long now = 0, most = 0;
    for (int i = 0; i < changed; i++) {
        if (changes[changes[i].made].copy) continue;
        now += changes[i].bytes;
        if (now > most) most = now;
    }
    return size_t(most);
}

void reset_peak() {
    reserved = used, peak = used, changed = 0;
    for (int i = 0; i < count; i++) table[i].made = -1;
}

}  // namespace emu
