// What blocks tell each other by atomics and volatile accesses: a block that has made one knows what others had done
// before theirs. Blocks run one after another, so that all that another block can have told has been told by then.
#pragma once
#include "clocks.h"

namespace emu {

// An access to device memory, with what decides whether another block may rely on it.
struct Seen {
    Touch touch;
    uint32_t fences;            // of the launch so far
    uint32_t block : 28, bytes : 4;  // which bytes of its word
};

// What stands between an access of another block and the running one, best first.
enum class Handover { KNOWN, UNFENCED, BY_LANES, TOO_EARLY, NONE };

void begin_handovers();  // of a launch
void begin_block_handovers();
void take_over(uintptr_t address);  // the running thread has looked at what others publish there
void hand_over(uintptr_t address);  // it publishes there what it knows
Handover handed_over(const Seen& by);  // an earlier block's access, to the running one
uint32_t fences();

}  // namespace emu
