#pragma once

#include "taper/core/macros.h"

namespace taper {

/// "0.1.0"
TAPER_API const char* version();

}  // namespace taper
