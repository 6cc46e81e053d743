#pragma once

#include "taper/core/parallel.h"

namespace at {

using ::taper::get_num_interop_threads, ::taper::get_num_threads, ::taper::in_parallel_region,
    ::taper::parallel_for, ::taper::set_num_interop_threads, ::taper::set_num_threads;
/// Taper's threads need no preparation.
inline void init_num_threads() {}

}  // namespace at
