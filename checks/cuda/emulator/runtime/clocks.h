// Who touched what last, and what the threads of a block know of each other: vector clocks. A barrier of the block
// begins an epoch, and so does every block; within an epoch shuffles, warp barriers and atomics pass on what is known.
#pragma once
#include <cstdint>
#include "state.h"

namespace emu {

struct Touch {
    uint32_t epoch, clock;
    uint16_t tid, atomic;
    Where where;
};

enum Order { ORDERED, WEAKLY, UNORDERED };

extern uint32_t epoch;
extern uint32_t strong[MOST_THREADS][MOST_THREADS];  // what thread t knows of thread u: everything up to this clock
extern uint32_t weak[MOST_THREADS][32];              // the same through exchanges that order no memory; own warp alone

void know(unsigned t);  // before a thread's clocks are read: they begin anew with each epoch

// How a thread of the running block stands to an earlier access of the same block.
inline Order order(const Touch& earlier, unsigned t, bool atomic) {
    if (earlier.epoch != epoch || earlier.tid == t || (atomic && earlier.atomic)) return ORDERED;
    if (strong[t][earlier.tid] >= earlier.clock) return ORDERED;
    return earlier.tid / 32 == t / 32 && weak[t][earlier.tid % 32] >= earlier.clock ? WEAKLY : UNORDERED;
}

}  // namespace emu
