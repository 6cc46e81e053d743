#pragma once

#include "taper/nn/serialize/host_copy.h"

namespace taper::data::detail {
using serialize::detail::check_bools;
using serialize::detail::host_copy;
}  // namespace taper::data::detail
