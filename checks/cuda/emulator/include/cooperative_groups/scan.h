// Stands for the header of that name.
#pragma once
#include "../cooperative_groups.h"
