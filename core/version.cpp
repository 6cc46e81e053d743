#include "taper/core/version.h"

namespace taper {

const char* version() { return TAPER_VERSION; }

}  // namespace taper
