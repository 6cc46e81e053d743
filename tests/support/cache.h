#pragma once

namespace support {

/// Whether the allocators keep what is freed: not in the builds for sanitizers. Without it, memory
/// has the size that was asked for and goes back to the driver at once, which waits.
#if defined(TAPER_NO_CACHE)
constexpr bool kCached = false;
#else
constexpr bool kCached = true;
#endif

}  // namespace support
