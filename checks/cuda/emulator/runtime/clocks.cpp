// What the threads of a block know of each other's accesses, and what passes it on.
#include "clocks.h"
#include <algorithm>
#include <cstring>

namespace emu {

uint32_t epoch = 1;
uint32_t strong[MOST_THREADS][MOST_THREADS];
uint32_t weak[MOST_THREADS][32];

namespace {

constexpr unsigned SLOTS = 1024;

uint32_t known_epoch[MOST_THREADS];
bool foreign[MOST_THREADS];
uint32_t slots[SLOTS][MOST_THREADS];
uint32_t slot_epoch[SLOTS];

}  // namespace

void know(unsigned t) {
    if (known_epoch[t] == epoch) return;
    known_epoch[t] = epoch;
    memset(strong[t], 0, machine.threads * sizeof(uint32_t));
    memset(weak[t], 0, sizeof weak[t]);
    strong[t][t] = 1;
    foreign[t] = false;
}

void begin_epoch() { epoch++; }

void atomic_order(uintptr_t address) {
    unsigned t = machine.current->tid, slot = unsigned((address / 4 * 2654435761u) % SLOTS);
    know(t);
    if (slot_epoch[slot] != epoch) {
        slot_epoch[slot] = epoch;
        memset(slots[slot], 0, machine.threads * sizeof(uint32_t));
    }
    uint32_t *mine = strong[t], *theirs = slots[slot];
    for (unsigned u = 0; u < machine.threads; u++) mine[u] = theirs[u] = std::max(mine[u], theirs[u]);
    foreign[t] = true;
}

void published() { strong[machine.current->tid][machine.current->tid]++; }

void joined(const Warp&, unsigned base, unsigned lanes, bool orders_memory) {
    uint32_t both[32] = {0}, loosely[32] = {0};
    unsigned width = std::min(32u, machine.threads - base);
    bool far = false;
    for (unsigned l = 0; l < width; l++) {
        if (!(lanes >> l & 1)) continue;
        know(base + l);
        far |= foreign[base + l];
        for (unsigned u = 0; u < width; u++) {
            both[u] = std::max(both[u], strong[base + l][base + u]);
            loosely[u] = std::max(loosely[u], weak[base + l][u]);
        }
    }
    if (orders_memory && far) {
        static uint32_t all[MOST_THREADS];
        memset(all, 0, machine.threads * sizeof(uint32_t));
        for (unsigned l = 0; l < width; l++)
            if (lanes >> l & 1)
                for (unsigned u = 0; u < machine.threads; u++) all[u] = std::max(all[u], strong[base + l][u]);
        for (unsigned l = 0; l < width; l++)
            if (lanes >> l & 1) memcpy(strong[base + l], all, machine.threads * sizeof(uint32_t)), foreign[base + l] = true;
    }
    for (unsigned l = 0; l < width; l++) {
        if (!(lanes >> l & 1)) continue;
        for (unsigned u = 0; u < width; u++) {
            weak[base + l][u] = std::max(loosely[u], both[u]);
            if (orders_memory) strong[base + l][base + u] = both[u];
        }
        strong[base + l][base + l]++;
    }
}

}  // namespace emu
