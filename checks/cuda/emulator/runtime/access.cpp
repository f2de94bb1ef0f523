// Every access of a kernel: whose memory it is, and whether it may.
#include <cstdio>
#include <unistd.h>
#include "global.h"
#include "grid.h"
#include "state.h"
#include "walls.h"

extern "C" char __executable_start, _end;

namespace emu {
namespace {

constexpr int SPIN = 400;
constexpr uint64_t MOST_IDLE = 1u << 20;

const char* verb(unsigned access) { return access & ATOMIC ? "an atomic access" : access & WRITE ? "a write" : "a read"; }

void misaligned(uintptr_t address, size_t bytes, unsigned access, Where where) {
    report("misaligned_access", FAULT, where, 0, "%s of %zu bytes at an address that is %zu past a multiple of %zu",
           verb(access), bytes, size_t(address % bytes), bytes);
    abort_launch(716);
}

void outside(uintptr_t address, size_t bytes, unsigned access, Where where) {
    Allocation* by = nearest(address);
    if (!by) {
        report("illegal_address", FAULT, where, 0, "%s of %zu bytes far from anything allocated", verb(access), bytes);
        abort_launch(700);
    }
    if (address < by->base) {
        report("out_of_bounds", FAULT, where, by->where, "%s of %zu bytes, %zu before %s of %zu bytes", verb(access), bytes,
               size_t(by->base - address), by->name, by->bytes);
    } else {
        report("out_of_bounds", FAULT, where, by->where, "%s of %zu bytes, %zu past the end of %s of %zu bytes", verb(access), bytes,
               size_t(address + bytes - by->base - by->bytes), by->name, by->bytes);
    }
}

void global_access(uintptr_t address, size_t bytes, unsigned access, Where where) {
    Allocation* its = find(address);
    if (its && machine.lockstep && (access & WRITE || its->written)) {
        yield_lane();
        its = find(address);
    }
    if (!(access & UNALIGNED) && (bytes & (bytes - 1)) == 0 && bytes <= 16 && address % bytes) misaligned(address, bytes, access, where);
    if (!its || address + bytes > its->base + its->bytes) return outside(address, bytes, access, where);
    if (access & WRITE) {
        its->written = true;
        if (its->read_only)
            report("input_written", FAULT, where, 0, "%s of %zu bytes into %s, which is the caller's input", verb(access), bytes, its->name);
    }
    if ((its->read_only || its->copy) && (access & READ)) machine.input_bytes += bytes;
    if (!its->read_only || access & WRITE) watched(its->watched, its->base, its->bytes, its->name, address, bytes, access, where);
}

void other_access(uintptr_t address, size_t bytes, unsigned access, Where where) {
    if (address - uintptr_t(&__executable_start) < size_t(&_end - &__executable_start) && !(access & WRITE && is_private(address, bytes))) {
        if (is_variable(address)) variable_watched(address, bytes, access, where);
        else if (access & ATOMIC) atomic_order(address), published();
        return;
    }
    if (address - machine.closure < machine.closure_bytes) return;
    if (address < 65536)
        report("illegal_address", FAULT, where, 0, "%s of %zu bytes through a null pointer", verb(access), bytes);
    else if (in_stack_guard(address) || uintptr_t(__builtin_frame_address(0)) < machine.current->stack)
        report("stack_overflow", FAULT, where, 0, "a thread uses more than %zu KiB of local memory", STACK_BYTES >> 10);
    else if (in_stacks(address))
        report("illegal_address", FAULT, where, 0, "%s of %zu bytes in the local memory of another thread", verb(access), bytes);
    else
        report("illegal_address", FAULT, where, 0, "%s of %zu bytes through a pointer that is not the device's", verb(access), bytes);
    abort_launch(700);
}

void host_access(uintptr_t address, size_t bytes, unsigned access, Where where) {
    if (in_device(address)) {
        lower_walls();
        report("illegal_address", FAULT, where, 0, "host code makes %s of %zu bytes in %s", verb(access), bytes, device_name(address));
        end_host_code(1);
    }
    if (access & WRITE && is_private(address, bytes)) {
        lower_walls();
        report("illegal_address", FAULT, where, 0, "host code makes a write of %zu bytes in the emulator's own memory", bytes);
        end_host_code(1);
    }
    if (access & READ) brought(address, bytes);
}

}  // namespace

void brought(uintptr_t address, size_t bytes) {
    if (!in_arena(address) || in_device(address)) return;
    Inside inside;
    Allocation* its = find(address);
    if (its && its->written) machine.brought_bytes += bytes;
}

bool is_private(uintptr_t address, size_t bytes) { return within(Wall::STATE, address, bytes) || within(Wall::CHANNEL, address, bytes); }

void host_checked(uintptr_t address, size_t bytes, unsigned access, Where where) {
    if (!machine.current) host_access(address, bytes, access, where);
}

void checked(uintptr_t address, size_t bytes, unsigned access, Where where) {
    Fiber* fiber = machine.current;
    if (!fiber) return host_access(address, bytes, access, where);
    if (address - fiber->stack < STACK_BYTES) return;
    settle_writes(false);
    settle_global(false);
    machine.looks = access & READ && address == machine.looked_at ? machine.looks + 1 : 0;
    machine.looked_at = address;
    if (machine.turned && machine.looks > MOST_IDLE) abort_launch(TURN_BACK);
    if (access & ATOMIC) {
        machine.patience -= SPIN;
        if (++machine.idle > MOST_IDLE) {
            if (machine.turned) abort_launch(TURN_BACK);
            report("deadlock", FAULT, where, 0, "threads spin on atomics or volatile memory and none goes on");
            abort_launch(702);
        }
    } else {
        machine.idle = 0;
    }
    if (--machine.patience < 0) {
        machine.patience = PATIENCE;
        rotate();
    }
    fiber->where = where;
    if (in_shared(address)) {
        if (!(access & UNALIGNED) && (bytes & (bytes - 1)) == 0 && bytes <= 16 && address % bytes) misaligned(address, bytes, access, where);
        if (machine.lockstep) yield_lane();
        else if ((machine.random = machine.random * 6364136223846793005u + 1442695040888963407u) >> 62 == 0) rotate();
        return shared_access(address, bytes, access, where);
    }
    if (in_arena(address)) return global_access(address, bytes, access, where);
    other_access(address, bytes, access, where);
}

}  // namespace emu
