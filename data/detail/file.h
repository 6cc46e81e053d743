#pragma once

#include "taper/nn/serialize/file.h"

namespace taper::data::detail {
using serialize::detail::checked_bytes;
using serialize::detail::Descriptor;
using serialize::detail::fail_file;
using serialize::detail::InputFile;
}  // namespace taper::data::detail
