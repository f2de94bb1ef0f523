// Stands for the header of that name.
#pragma once
#include "emulator/cub_sort.h"
