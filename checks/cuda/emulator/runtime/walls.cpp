#include "walls.h"
#include <sys/mman.h>
#include "state.h"
#include "threads.h"

// Where the linker put the runtime's variables, and the submission's of device memory.
extern "C" char emu_state_begin, emu_state_end, emu_device_begin, emu_device_end;

namespace emu {
namespace {

constexpr int MOST = 8;

struct Stretch {
    Wall wall;
    uintptr_t from;
    size_t bytes;
} stretches[MOST];
int count = 0;
bool standing = false, device_open = false;

int permitted(Wall wall) { return wall == Wall::STATE ? PROT_READ : PROT_NONE; }

void set(Wall wall, int (*wanted)(Wall)) {
    for (int i = 0; i < count; i++)
        if (stretches[i].wall == wall && mprotect((void*)stretches[i].from, stretches[i].bytes, wanted(wall))) __builtin_trap();
}

int opened(Wall) { return PROT_READ | PROT_WRITE; }

}  // namespace

void enclose(Wall wall, void* memory, size_t bytes) {
    if (count == MOST) __builtin_trap();
    stretches[count++] = {wall, uintptr_t(memory), bytes};
}

bool within(Wall wall, uintptr_t address, size_t bytes) {
    for (int i = 0; i < count; i++)
        if (stretches[i].wall == wall && address < stretches[i].from + stretches[i].bytes && stretches[i].from < address + (bytes ? bytes : 1)) return true;
    return false;
}

bool entered() { return machine.inside == this_thread(); }

void raise_walls() {
    static bool known = false;
    if (!known) {
        enclose(Wall::STATE, &emu_state_begin, size_t(&emu_state_end - &emu_state_begin));
        enclose(Wall::DEVICE, &emu_device_begin, size_t(&emu_device_end - &emu_device_begin));
    }
    known = standing = true;
    device_open = false;
    set(Wall::CHANNEL, permitted);
    set(Wall::DEVICE, permitted);
    machine.inside = 0;
    set(Wall::STATE, permitted);
    release_threads();
}

void lower_walls() {
    if (!standing) return;
    if (!entered()) {
        hold_threads();
        set(Wall::STATE, opened);
        machine.inside = this_thread();
    }
    device_open = true;
    set(Wall::DEVICE, opened);
    set(Wall::CHANNEL, opened);
}

Inside::Inside() : outermost(standing && !entered()) {
    if (!outermost) return;
    hold_threads();
    set(Wall::STATE, opened);
    machine.inside = this_thread();
}

Inside::~Inside() {
    if (!outermost) return;
    machine.inside = 0;
    set(Wall::STATE, permitted);
    release_threads();
}

DeviceOpen::DeviceOpen() : outermost(!device_open) {
    if (!outermost) return;
    device_open = true;
    set(Wall::DEVICE, opened);
}

DeviceOpen::~DeviceOpen() {
    if (!outermost) return;
    set(Wall::DEVICE, permitted);
    device_open = false;
}

}  // namespace emu
