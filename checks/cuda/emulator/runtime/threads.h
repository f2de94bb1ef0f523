// The host's other threads: held while the runtime is at work, so that none of them sees what is open then.
#pragma once
#include <cstdint>

namespace emu {
inline uintptr_t this_thread() { return uintptr_t(__builtin_thread_pointer()); }
void find_threads();  // once, before any other thread can be
void hold_threads();
void release_threads();
}  // namespace emu
