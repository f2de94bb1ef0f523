// All that a CUDA source has without including anything.
#pragma once
#include <cstdio>
#include <ctime>
#include <limits>
#include <new>
#include "qualifiers.h"
#include "vectors.h"
#include "math.h"
#include "warp.h"
#include "atomics.h"
#include "loads.h"
#include "launch.h"
#include "runtime_api.h"
