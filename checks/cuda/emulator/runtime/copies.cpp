// Asynchronous copies into shared memory: the bytes arrive when their thread waits for them, no sooner, and
// until then poison lies where they go. A card may be quicker; a kernel must not rely on that.
#include <algorithm>
#include <cstring>
#include <vector>
#include "state.h"

namespace emu {
namespace {

constexpr size_t MOST = 16;

struct Copy {
    uintptr_t to;
    size_t bytes;
    unsigned batch;
    Where where;
    char data[MOST];
};

struct Copies {
    std::vector<Copy> open;  // in the order in which they were asked for
    unsigned batch = 0;      // commits so far
};
// Made by the first kernel: what a constructor would fill before the runtime's main is read only by then.
Copies* copies = nullptr;

Copies& own() { return copies[machine.current->tid]; }

void arrive(const Copy& copy) {
    mark_in_flight(copy.to, copy.bytes, false);
    checked(copy.to, copy.bytes, WRITE | UNALIGNED, copy.where);
    memcpy((void*)copy.to, copy.data, copy.bytes);
}

// Lets those before a batch arrive; a copy may give way to other threads, so the list is put right first.
void wait_until(unsigned batch) {
    std::vector<Copy>& open = own().open;
    auto first_open = std::find_if(open.begin(), open.end(), [=](const Copy& copy) { return copy.batch >= batch; });
    std::vector<Copy> due(open.begin(), first_open);
    open.erase(open.begin(), first_open);
    for (const Copy& copy : due) arrive(copy);
}

}  // namespace

void begin_copies() {
    if (!copies) copies = new Copies[MOST_THREADS];
    for (unsigned t = 0; t < machine.threads; t++) copies[t].open.clear(), copies[t].batch = 0;
}

Where copied_by(uintptr_t address) {
    for (unsigned t = 0; t < machine.threads; t++)
        for (const Copy& copy : copies[t].open)
            if (address - copy.to < copy.bytes) return copy.where;
    return 0;
}

}  // namespace emu

using namespace emu;

extern "C" void emu_copy_late(void* to, const void* from, size_t bytes, size_t zeroed, Site site) {
    Where where = interned(site);
    size_t kept = bytes - std::min(bytes, zeroed);
    if (kept) checked(uintptr_t(from), kept, READ, where);
    checked(uintptr_t(to), bytes, WRITE, where);
    if (bytes > MOST || !in_shared(uintptr_t(to))) {
        memmove(to, from, kept);
        memset((char*)to + kept, 0, bytes - kept);
        return;
    }
    Copy copy{uintptr_t(to), bytes, own().batch, where, {0}};
    memcpy(copy.data, from, kept);
    for (size_t i = 0; i < bytes; i++) ((unsigned char*)to)[i] = (unsigned char)(POISON >> (8 * (i % 4)));
    mark_in_flight(copy.to, bytes, true);
    own().open.push_back(copy);
}

extern "C" void emu_copies_commit() { own().batch++; }

// All but the newest `open` batches have arrived.
extern "C" void emu_copies_wait(unsigned open) {
    if (own().batch > open) wait_until(own().batch - open);
}

extern "C" void emu_copies_wait_all() { wait_until(~0u); }
