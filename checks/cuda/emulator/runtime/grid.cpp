// A launch: its blocks, one after another. A shuffled case turns their order round, for a card promises none; a block
// that waits for one with a smaller number, which a card has begun before, would then wait for ever: what has been
// done is undone, and the launch runs in order.
#include "grid.h"
#include <cstring>
#include <sys/mman.h>
#include "emulator/vectors.h"
#include "global.h"

extern "C" {
extern uint3 emu_blockIdx;
extern char emu_device_begin, emu_device_end;
}

namespace emu {
namespace {

constexpr size_t MOST_KEPT = size_t(32) << 20;

char* kept = nullptr;
uint64_t input_bytes = 0;

// Goes through all memory that kernels may write; false where it is more than is kept.
template <class Each> bool all_memory(Each each) {
    size_t at = 0;
    auto next = [&](uintptr_t from, size_t bytes) {
        if (at + bytes > MOST_KEPT) return false;
        each(kept + at, (void*)from, bytes);
        at += bytes;
        return true;
    };
    if (!next(uintptr_t(&emu_device_begin), size_t(&emu_device_end - &emu_device_begin))) return false;
    for (int i = 0; Allocation* its = allocation(i); i++)
        if (!its->read_only && !next(its->base, its->bytes)) return false;
    return true;
}

bool keep() {
    if (!kept) {
        void* memory = mmap(nullptr, MOST_KEPT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) return false;
        kept = (char*)memory;
    }
    input_bytes = machine.input_bytes;
    keep_events();
    return all_memory([](char* to, void* from, size_t bytes) { memcpy(to, from, bytes); });
}

uint64_t turned(uint64_t place, uint64_t blocks) { return machine.schedule % 2 ? blocks - 1 - place : (place + blocks / 2) % blocks; }

}  // namespace

void run_grid(void (*thread)(const void*), const void* closure) {
    const Extent& grid = machine.launch->grid;
    uint64_t blocks = uint64_t(grid.x) * grid.y * grid.z;
    begin_watch();
    machine.outside = 0;
    for (uint64_t place = 0; place < blocks; place++) {
        uint64_t block = machine.turned ? turned(place, blocks) : place;
        machine.block = unsigned(block);
        emu_blockIdx = {unsigned(block % grid.x), unsigned(block / grid.x % grid.y), unsigned(block / grid.x / grid.y)};
        begin_block_memory();
        begin_block_watch();
        run_block(thread, closure);
    }
}

void choose_order() {
    const Extent& grid = machine.launch->grid;
    machine.turned = machine.schedule > 0 && uint64_t(grid.x) * grid.y * grid.z > 1 && keep();
}

void turn_back() {
    machine.turned = false;
    machine.error = 0, machine.idle = 0, machine.patience = PATIENCE;
    machine.input_bytes = input_bytes;
    back_to_events();
    all_memory([](char* from, void* to, size_t bytes) { memcpy(to, from, bytes); });
}

}  // namespace emu
