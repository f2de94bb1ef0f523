// What the parts of the runtime share: threads, warps, events, memory.
#pragma once
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include "emulator/abi.h"

namespace emu {

// ---- where something happened: an instruction of the program (below 2^31), or an interned site
using Where = uint32_t;
Where interned(Site site);
inline Where at(void* return_address) { return Where(uintptr_t(return_address) - 1); }

// ---- events.cpp
enum Severity { FAULT, HAZARD, NOTE };
void report(const char* kind, Severity severity, Where where, Where other, const char* format, ...)
    __attribute__((format(printf, 5, 6)));
size_t put_events(char* out, size_t room);
void clear_events();
void keep_events();  // and back to what was kept
void back_to_events();

// ---- threads
enum class State : uint8_t { READY, COLLECTIVE, BARRIER, PARKED, DONE };
enum class Op : uint8_t { SHUFFLE, VOTE, MATCH, REDUCE, SYNC };

struct Fiber {
    void* sp;
    uintptr_t stack;
    unsigned tid, lane, warp;
    Extent index;
    State state;
    Op op;
    uint8_t kind;
    unsigned mask;
    int argument, width, barrier;
    uint64_t value, result;
    int flag;
    Where where;
};

struct Warp {
    unsigned alive, ready, parked, collective;
    unsigned cursor;
};

constexpr unsigned MOST_THREADS = 1024;
constexpr size_t STACK_BYTES = 256 << 10;
constexpr int PATIENCE = 20000;
constexpr uint32_t POISON = 0x7fc0deadu;

struct Machine {
    Fiber* current;  // null while host code runs
    Fiber fibers[MOST_THREADS];
    Warp warps[MOST_THREADS / 32];
    unsigned threads, alive, waiting, exited;
    unsigned block;  // linear index
    int patience;    // accesses until other warps get their turn
    bool lockstep;
    int schedule;
    bool turned;  // blocks run in another order than that of their numbers
    uint64_t random;
    const Launch* launch;
    uintptr_t closure;
    size_t closure_bytes;
    uint64_t idle;  // atomics and volatile reads since anything else happened
    uint64_t outside;  // accesses of this launch out of bounds
    uint64_t looks;  // reads of the same place of device memory with nothing else between
    uintptr_t looked_at;
    sigjmp_buf exit;
    int error;  // sticky
    uint64_t input_bytes;  // read of the logits by kernels
    bool flushed;  // what the host printed, after its code broke
    uint64_t brought_bytes;  // that the host had of what lay in device memory, or kernels left for it
    bool planned;            // kernels are not run: what is launched is all that is looked at
    Where refused_at;        // the last launch that was refused, with none after it by whom knew, and why
    char refused[160];
    uintptr_t main_thread, inside;  // that of the cases; the thread that the runtime works for, while it does
};
extern Machine machine;

// ---- scheduler.cpp
void run_block(void (*thread)(const void*), const void* closure);
void yield_lane();
void rotate();
void wait_here();  // once the running fiber is no longer READY: returns when somebody woke it
[[noreturn]] void abort_launch(int code);
Fiber& lane_of(const Fiber& fiber, unsigned lane);

// ---- stacks.cpp
void make_stacks(unsigned threads);
void prepare(Fiber& fiber, void (*entry)());
extern "C" void emu_switch(void** save, void* load);
bool in_stacks(uintptr_t address);
bool in_stack_guard(uintptr_t address);

// ---- collectives.cpp
void complete(Warp& warp, Fiber& first, unsigned lanes);

// ---- memory.cpp
// Where the shadow of some memory stands in this launch (global.cpp).
struct Watched {
    uint32_t launch, at;
};
struct Allocation {
    uintptr_t base;
    size_t bytes;
    Where where;
    const char* name;
    int made;   // the change that made it, since the launch began
    bool host, read_only, answer, ours, written;
    bool copy;  // of the caller's logits, whole
    Watched watched;
};
void make_arena();
Allocation* allocate(size_t bytes, Where where, const char* name, bool host = false);
bool release(uintptr_t base);
void release_ours();
Allocation* find(uintptr_t address);
Allocation* nearest(uintptr_t address);
Allocation* allocation(int number);  // by address; null behind the last one
bool in_arena(uintptr_t address);  // of the device's memory, or the host's that it reads
bool in_device(uintptr_t address);  // variables included
const char* device_name(uintptr_t address);
size_t peak_bytes();
void reset_peak();

// ---- clocks.cpp
void begin_epoch();
void joined(const Warp& warp, unsigned base, unsigned lanes, bool orders_memory);
void atomic_order(uintptr_t address);  // before an atomic access is noted; published() after
void published();

// ---- shadow.cpp
void find_shared();
void follow_thread();  // a thread that launches has storage of its own
void begin_block_memory();
bool in_shared(uintptr_t address);
void shared_access(uintptr_t address, size_t bytes, unsigned access, Where where);
void settle_writes(bool all);  // at a thread's next access, or where it waits or ends: what its write has left
void mark_in_flight(uintptr_t address, size_t bytes, bool in_flight);  // of shared memory

// ---- copies.cpp
void begin_copies();
Where copied_by(uintptr_t address);  // the copy that has not arrived there yet; 0 for none

// ---- access.cpp
void checked(uintptr_t address, size_t bytes, unsigned access, Where where);
void host_checked(uintptr_t address, size_t bytes, unsigned access, Where where);  // of host code alone
bool is_private(uintptr_t address, size_t bytes);  // the runtime's own
// Host code looks at what kernels left in memory that both sides reach.
void brought(uintptr_t address, size_t bytes);
[[noreturn]] void end_host_code(int how);

// ---- signals.cpp
void catch_signals(double seconds);
extern sigjmp_buf host_exit;

}  // namespace emu
