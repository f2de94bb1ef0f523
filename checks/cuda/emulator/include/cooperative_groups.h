// Stands for the header of that name.
#pragma once
#include "emulator/cuda.h"
#include "emulator/groups.h"
