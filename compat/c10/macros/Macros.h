#pragma once

#include "taper/core/macros.h"

#define C10_LIKELY(condition) TAPER_LIKELY(condition)
#define C10_UNLIKELY(condition) TAPER_UNLIKELY(condition)
#define C10_UNUSED [[maybe_unused]]
#define C10_NODISCARD [[nodiscard]]
#define C10_ALWAYS_INLINE TAPER_INLINE
#define C10_NOINLINE __attribute__((noinline))
#define C10_HOST_DEVICE TAPER_HOST_DEVICE

// A program's own classes need no mark to be seen.
#define C10_API
#define TORCH_API
