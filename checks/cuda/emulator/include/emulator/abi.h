// What the headers ask of the runtime. The headers are compiled into the submission, with every
// memory access instrumented; the runtime is compiled apart, without.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emu {

// A place in the submission: that of the call, where it is a default argument.
struct Site {
    const char* file;
    int line;
};

constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }

enum Shuffle { SHUFFLE_INDEX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR };
enum Vote { VOTE_BALLOT, VOTE_ANY, VOTE_ALL, VOTE_UNI };
enum Match { MATCH_ANY, MATCH_ALL };
enum Reduce { REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_MIN_SIGNED, REDUCE_MAX_SIGNED, REDUCE_AND, REDUCE_OR, REDUCE_XOR };
enum Barrier { BARRIER_PLAIN, BARRIER_COUNT, BARRIER_AND, BARRIER_OR };
enum Sort { SORT_UNSIGNED, SORT_SIGNED, SORT_FLOATS };
enum Access : unsigned { READ = 1, WRITE = 2, ATOMIC = 4, UNALIGNED = 8 };

struct Extent {
    unsigned x, y, z;
};

// What stands between <<< and >>>.
struct Launch {
    Extent grid, block;
    size_t shared;
    void* stream;
    bool cooperative;
};

}  // namespace emu

extern "C" {
uint64_t emu_shuffle(emu::Shuffle kind, unsigned mask, uint64_t value, int argument, int width, emu::Site site);
unsigned emu_vote(emu::Vote kind, unsigned mask, int predicate, emu::Site site);
unsigned emu_match(emu::Match kind, unsigned mask, uint64_t value, int* all, emu::Site site);
unsigned emu_reduce(emu::Reduce kind, unsigned mask, unsigned value, emu::Site site);
void emu_syncwarp(unsigned mask, emu::Site site);
unsigned emu_activemask(emu::Site site);
int emu_barrier(emu::Barrier kind, int predicate, emu::Site site);
// A named barrier: `count` threads of the block, whichever they are.
void emu_named_barrier(int id, int count, emu::Site site);
// Checks an access, orders it if it is atomic; the access itself follows and is not instrumented.
void emu_access(const void* address, size_t bytes, unsigned access, emu::Site site);
// An asynchronous copy of up to 16 bytes, the last `zeroed` of which are zeros; batches are closed and waited for per thread.
void emu_copy_late(void* to, const void* from, size_t bytes, size_t zeroed, emu::Site site);
void emu_copies_commit();
void emu_copies_wait(unsigned open);
void emu_copies_wait_all();
// Addresses of shared memory as PTX has them, which fit 32 bits.
size_t emu_shared_offset(const void* p);
void* emu_shared_address(size_t offset);
void emu_trap(emu::Site site, const char* text);
// Stable; the places of the keys in their order, by the bits from `first` up to `last`. Both zeros are one key.
void emu_sort(const void* keys, int bytes, int kind, int* places, int n, int descending, int first, int last);
void emu_pause();
// A fence that other blocks see.
void emu_fence();
unsigned long long emu_clock();
// Threads of this warp that have not exited; the caller's lane; its number within the block.
unsigned emu_lane();
unsigned emu_thread();
unsigned emu_threads();
size_t emu_dynamic_bytes();
int emu_launch(const emu::Launch* launch, void (*thread)(const void*), const void* closure, size_t bytes, emu::Site site);
}
