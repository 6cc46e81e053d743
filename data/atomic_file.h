#pragma once

#include "taper/nn/serialize/atomic_file.h"

namespace taper::data {
using serialize::atomic_write_file;
using serialize::FileWriter;
}  // namespace taper::data
