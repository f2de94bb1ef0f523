// Stands for the header of that name; of the driver API there are only the types.
#pragma once
#include "emulator/cuda.h"
using CUstream = cudaStream_t;
using CUdeviceptr = unsigned long long;
