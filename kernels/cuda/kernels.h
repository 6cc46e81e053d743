#pragma once

#include <type_traits>

#include "taper/kernels/kernels.h"

// The CUDA kernels' host side, by the names of the contract; module.cpp makes the table of them.

namespace taper::kernels::cuda {

#define TAPER_DECLARE(name) std::remove_pointer_t<decltype(KernelTable::name)> name;
TAPER_KERNELS(TAPER_DECLARE)
#undef TAPER_DECLARE

}  // namespace taper::kernels::cuda
