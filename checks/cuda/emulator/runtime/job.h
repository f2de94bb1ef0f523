// The job that the trusted side wrote, and the answers.
#pragma once
#include <cstdint>

namespace emu {
bool in_program(uintptr_t pc);
[[noreturn]] void finish_late();
}  // namespace emu
