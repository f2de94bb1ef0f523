// How the blocks of a launch follow one another.
#pragma once
#include "state.h"

namespace emu {

constexpr int TURN_BACK = -2;  // what a launch is left with whose blocks have to run in order

void choose_order();  // of the launch that the machine holds
void run_grid(void (*thread)(const void*), const void* closure);
void turn_back();  // as it was before the launch

}  // namespace emu
