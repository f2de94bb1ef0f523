#include "handovers.h"
#include <algorithm>
#include <cstring>

namespace emu {
namespace {

constexpr unsigned MOST_RECORDS = 1 << 16, SLOTS = 1 << 17, MOST_PLACES = 1 << 12, MOST_TAKEN = 48;

// What one warp of a block published at an address: whole epochs, and what its lanes had done in the last one.
struct Record {
    uintptr_t address;
    uint32_t block, epoch, fences;
    unsigned warp;
    bool far;  // other warps' accesses of that epoch were known too, through atomics
    uint32_t clocks[32];
};

// An address at which something was published, with those that its publishers had looked at before.
struct Place {
    uintptr_t address;
    unsigned count;
    uintptr_t besides[MOST_TAKEN];
};

Record records[MOST_RECORDS];
uint32_t slots[SLOTS], slot_launch[SLOTS];
Place places[MOST_PLACES];
uint32_t place_launch[MOST_PLACES];
unsigned record_count = 0;
uint32_t launch = 0, fence_count = 0;
uintptr_t taken[MOST_TAKEN];
unsigned taken_count = 0;
bool everything = false;   // the running block may rely on all others: more was published than is kept
bool overflowed = false;

unsigned hashed(uintptr_t address, uint32_t block, unsigned warp) {
    uint64_t mixed = address * 0x9e3779b97f4a7c15u ^ (uint64_t(block) * 64 + warp) * 0xc2b2ae3d27d4eb4fu;
    return unsigned(mixed >> 40) % SLOTS;
}

// The place of a record, or of the hole where it belongs.
unsigned slot_of(uintptr_t address, uint32_t block, unsigned warp) {
    unsigned slot = hashed(address, block, warp);
    for (; slot_launch[slot] == launch; slot = (slot + 1) % SLOTS) {
        const Record& its = records[slots[slot]];
        if (its.address == address && its.block == block && its.warp == warp) break;
    }
    return slot;
}

Place* place_of(uintptr_t address, bool made) {
    unsigned first = unsigned(address / 4 * 2654435761u >> 8) % MOST_PLACES;
    for (unsigned i = 0; i < MOST_PLACES; i++) {
        unsigned n = (first + i) % MOST_PLACES;
        if (place_launch[n] != launch) {
            if (!made) return nullptr;
            place_launch[n] = launch;
            places[n].address = address, places[n].count = 0;
            return &places[n];
        }
        if (places[n].address == address) return &places[n];
    }
    return nullptr;
}

bool has(const uintptr_t* all, unsigned count, uintptr_t address) { return std::find(all, all + count, address) != all + count; }

void take(uintptr_t address) {
    if (has(taken, taken_count, address)) return;
    if (taken_count == MOST_TAKEN) everything = true;
    else taken[taken_count++] = address;
}

// Whether a thread knows of other warps' accesses in this epoch.
bool knows_other_warps(unsigned t) {
    unsigned base = t / 32 * 32;
    for (unsigned u = 0; u < machine.threads; u++)
        if (strong[t][u] && (u < base || u >= base + 32)) return true;
    return false;
}

Record* record_here(uintptr_t address, unsigned warp) {
    unsigned slot = slot_of(address, machine.block, warp);
    if (slot_launch[slot] == launch) return &records[slots[slot]];
    if (record_count == MOST_RECORDS) return nullptr;
    slot_launch[slot] = launch, slots[slot] = record_count;
    Record& made = records[record_count++];
    memset(&made, 0, sizeof made);
    made.address = address, made.block = machine.block, made.warp = warp;
    return &made;
}

Handover told_by(const Record& its, const Seen& by) {
    const Touch& touch = by.touch;
    bool own_warp = touch.tid / 32 == its.warp;
    bool before = touch.epoch < its.epoch || (touch.epoch == its.epoch && (its.far || (own_warp && touch.clock <= its.clocks[touch.tid % 32])));
    if (before) return its.fences > by.fences ? Handover::KNOWN : Handover::UNFENCED;
    return touch.epoch == its.epoch && own_warp ? Handover::BY_LANES : Handover::TOO_EARLY;
}

}  // namespace

uint32_t fences() { return fence_count; }

void begin_handovers() {
    launch++;
    record_count = 0, overflowed = false;
}

void begin_block_handovers() {
    taken_count = 0;
    everything = overflowed;
}

void take_over(uintptr_t address) {
    take(address);
    if (const Place* place = place_of(address, false))
        for (unsigned i = 0; i < place->count; i++) take(place->besides[i]);
}

void hand_over(uintptr_t address) {
    unsigned t = machine.current->tid;
    Record* record = record_here(address, t / 32);
    Place* place = place_of(address, true);
    if (!record || !place) {
        everything = overflowed = true;
        return;
    }
    if (record->epoch != epoch) memset(record->clocks, 0, sizeof record->clocks), record->far = false;
    record->epoch = epoch, record->fences = fence_count;
    for (unsigned l = 0; l < 32; l++) record->clocks[l] = std::max(record->clocks[l], strong[t][t / 32 * 32 + l]);
    record->far |= knows_other_warps(t);
    for (unsigned i = 0; i < taken_count; i++) {
        if (has(place->besides, place->count, taken[i])) continue;
        if (place->count == MOST_TAKEN) everything = overflowed = true;
        else place->besides[place->count++] = taken[i];
    }
}

Handover handed_over(const Seen& by) {
    if (everything) return Handover::KNOWN;
    Handover best = Handover::NONE;
    unsigned warps = (machine.threads + 31) / 32;
    for (unsigned i = 0; i < taken_count; i++)
        for (unsigned warp = 0; warp < warps; warp++) {
            unsigned slot = slot_of(taken[i], by.block, warp);
            if (slot_launch[slot] != launch) continue;
            best = std::min(best, told_by(records[slots[slot]], by));
        }
    return best;
}

}  // namespace emu

extern "C" void emu_fence() {
    if (emu::machine.current) emu::fence_count++;
}
