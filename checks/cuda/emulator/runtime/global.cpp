// Device memory's shadow: who touched each word last in this launch, and whether anything stands between two threads
// that touch it, one of them writing. Threads of a block wait for each other at barriers; blocks wait for nobody,
// and rely on what others have told by atomics alone (handovers.h).
#include "global.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include "handovers.h"
#include "walls.h"

extern "C" char emu_device_begin, emu_device_end;

namespace emu {
namespace {

constexpr uint32_t MOST_WORDS = 4 << 20, UNWATCHED = ~0u;
constexpr size_t MOST_COMPARED = 64;

struct Word {
    Seen writer, before, reader;  // the last reader, and the last one of an earlier block
};

Word* pool = nullptr;
uint32_t pooled = 0, launch = 0, first_epoch = 1, block_epoch = 1;
Watched variables;

struct Found {
    Seen earlier;
    uintptr_t address;
    size_t bytes;
    unsigned access, tid, block;
    bool was_write, within;  // a write that came first; threads of one block
    Order order;
    Handover handover;
    Where where;
    const char* name;
    size_t offset;
};

// A thread's plain write that something else has touched: it breaks nothing where it leaves what was there. It is
// done by its second access after it: the first may be the read of what it writes.
struct Pending {
    Found found;
    char old[MOST_COMPARED];
    uintptr_t address;
    size_t bytes;
    int left;
};
Pending pending[MOST_THREADS];

void told_within(const Found& f) {
    const char* then = f.was_write ? "written" : "read";
    const char* now = f.access & WRITE ? "writes" : "reads";
    if (f.order == WEAKLY)
        report("weak_order", HAZARD, f.where, f.earlier.touch.where,
               "thread %u %s %s at byte %zu, %s by thread %u: only a shuffle or vote stands between, which orders no memory", f.tid, now, f.name, f.offset, then,
               f.earlier.touch.tid);
    else
        report("race", FAULT, f.where, f.earlier.touch.where, "thread %u %s %s at byte %zu, %s by thread %u of its block with no barrier between", f.tid, now,
               f.name, f.offset, then, f.earlier.touch.tid);
}

const char* missing(const Found& f, char* text, size_t room) {
    switch (f.handover) {
        case Handover::UNFENCED: return "an atomic tells of it, with no __threadfence() in front";
        case Handover::BY_LANES: return "an atomic of its warp tells of it, with no __syncwarp() in front";
        case Handover::TOO_EARLY:
            if (!f.was_write) break;
            snprintf(text, room, "the atomic of block %u does not wait for that write", unsigned(f.earlier.block));
            return text;
        default: break;
    }
    return f.access & ATOMIC || f.earlier.touch.atomic ? "one of them by an atomic, which waits for nothing" : "no block waits for the other";
}

void told_between(const Found& f) {
    char text[96];
    bool lucky = f.handover == Handover::UNFENCED || f.handover == Handover::BY_LANES || f.access & ATOMIC || f.earlier.touch.atomic;
    bool writes = f.access & WRITE, both = writes && f.was_write;
    unsigned writer = writes ? f.block : f.earlier.block, reader = writes ? f.earlier.block : f.block;
    const char* first = both ? "" : writes ? " first" : "";
    report("race_between_blocks", lucky ? HAZARD : FAULT, f.where, f.earlier.touch.where, "block %u %s %s at byte %zu%s, and block %u writes there in the same launch: %s",
           reader, both ? "writes" : "reads", f.name, f.offset, first, writer, missing(f, text, sizeof text));
}

void told(const Found& f) { f.within ? told_within(f) : told_between(f); }

void conflict(const Found& f, uintptr_t address, size_t bytes) {
    bool plain_write = f.access & WRITE && !(f.access & ATOMIC);
    if (!plain_write) return told(f);
    Pending& its = pending[f.tid];
    if (its.left || bytes > MOST_COMPARED) return;
    its.found = f, its.address = address, its.bytes = bytes, its.left = 2;
    memcpy(its.old, (const void*)address, bytes);
}

// Whether an earlier access may not be relied on, and why.
bool unordered(const Seen& earlier, bool was_write, unsigned t, unsigned bytes, unsigned access, Found& found) {
    if (earlier.touch.epoch < first_epoch || !(earlier.bytes & bytes)) return false;
    bool atomic = access & ATOMIC;
    found.within = earlier.touch.epoch >= block_epoch;
    if (found.within) {
        found.order = order(earlier.touch, t, atomic);
        if (found.order == ORDERED) return false;
    } else {
        if (atomic && earlier.touch.atomic) return false;
        found.handover = handed_over(earlier);
        // what is only read, or counted at one place, needs no fence
        bool unfenced = found.handover == Handover::UNFENCED && was_write && !earlier.touch.atomic;
        if (found.handover == Handover::KNOWN || (found.handover == Handover::UNFENCED && !unfenced)) return false;
    }
    found.earlier = earlier, found.was_write = was_write;
    return true;
}

void noted(Seen& place, const Seen& now) {
    bool same = place.touch.epoch == now.touch.epoch && place.touch.tid == now.touch.tid;
    unsigned bytes = same ? place.bytes | now.bytes : now.bytes;
    place = now;
    place.bytes = bytes;
}

// What a thread does to one word; whether something that it touches may not be relied on.
bool touch(Word& word, const Seen& now, unsigned access, Found& found) {
    unsigned t = now.touch.tid;
    bool bad = unordered(word.writer, true, t, now.bytes, access, found);
    if (!bad && access & WRITE) bad = unordered(word.before, false, t, now.bytes, access, found) || unordered(word.reader, false, t, now.bytes, access, found);
    if (access & READ) {
        if (word.reader.touch.epoch < block_epoch) word.before = word.reader;
        noted(word.reader, now);
    }
    if (access & WRITE) noted(word.writer, now);
    return bad;
}

Word* words_of(Watched& its, size_t bytes) {
    if (its.launch != launch) {
        uint32_t wanted = uint32_t(std::min((bytes + 3) / 4, size_t(MOST_WORDS) + 1));
        its.launch = launch;
        its.at = pool && pooled + wanted <= MOST_WORDS ? pooled : UNWATCHED;
        if (its.at != UNWATCHED) pooled += wanted;
    }
    return its.at == UNWATCHED ? nullptr : pool + its.at;
}

}  // namespace

void begin_watch() {
    if (!pool) {
        void* memory = mmap(nullptr, MOST_WORDS * sizeof(Word), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        pool = memory == MAP_FAILED ? nullptr : (Word*)memory;
    }
    launch++;
    pooled = 0;
    first_epoch = epoch + 1;
    begin_handovers();
}

void begin_block_watch() {
    block_epoch = epoch;
    for (unsigned t = 0; t < machine.threads; t++) pending[t].left = 0;
    begin_block_handovers();
}

void settle_global(bool all) {
    Pending& its = pending[machine.current->tid];
    if (!its.left) return;
    its.left = all ? 0 : its.left - 1;
    if (!its.left && memcmp(its.old, (const void*)its.address, its.bytes)) told(its.found);
}

void watched(Watched& its, uintptr_t base, size_t room, const char* name, uintptr_t address, size_t bytes, unsigned access, Where where) {
    Word* words = words_of(its, room);
    unsigned t = machine.current->tid;
    know(t);
    if (access & ATOMIC) {
        atomic_order(address);
        if (access & READ) take_over(address);
    }
    if (access & READ && address % 4 == 0 && bytes >= 4 && *(const uint32_t*)address == POISON)
        report("uninitialized_read", FAULT, where, 0, "thread %u of block %u reads %s at byte %zu, which nobody has written", t, machine.block, name, address - base);
    Found found{}, first{};
    bool bad = false;
    for (size_t i = words ? address - base : bytes, end = words ? i + bytes : bytes; i < end;) {
        size_t in_word = i % 4, count = std::min(4 - in_word, end - i);
        Seen now{{epoch, strong[t][t], uint16_t(t), uint16_t((access & ATOMIC) != 0), where}, fences(), machine.block, ((1u << count) - 1u) << in_word};
        if (touch(words[i / 4], now, access, found) && !bad) bad = true, first = found, first.offset = i;
        i += count;
    }
    if (bad) {
        first.access = access, first.tid = t, first.block = machine.block, first.where = where, first.name = name;
        conflict(first, address, bytes);
    }
    if (!(access & ATOMIC)) return;
    if (access & WRITE) hand_over(address);
    published();
}

bool is_variable(uintptr_t address) { return address - uintptr_t(&emu_device_begin) < size_t(&emu_device_end - &emu_device_begin); }

void variable_watched(uintptr_t address, size_t bytes, unsigned access, Where where) {
    uintptr_t base = uintptr_t(&emu_device_begin);
    watched(variables, base, size_t(&emu_device_end - &emu_device_begin), "a __device__ variable", address, bytes, access, where);
}

}  // namespace emu
