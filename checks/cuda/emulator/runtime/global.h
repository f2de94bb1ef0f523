// Races on device memory.
#pragma once
#include "state.h"

namespace emu {

void begin_watch();            // of a launch
void begin_block_watch();      // once the block's first epoch has begun
void settle_global(bool all);  // at a thread's next access, or where it waits or ends: what its write has left
void watched(Watched& its, uintptr_t base, size_t room, const char* name, uintptr_t address, size_t bytes, unsigned access, Where where);
bool is_variable(uintptr_t address);
void variable_watched(uintptr_t address, size_t bytes, unsigned access, Where where);

}  // namespace emu
