#pragma once

// Visibility, branch hints and the qualifier that lets one functor serve the CPU and CUDA.

#if defined(TAPER_STATIC)
#define TAPER_API
#else
#define TAPER_API __attribute__((visibility("default")))
#endif

#define TAPER_LIKELY(x) __builtin_expect(!!(x), 1)
#define TAPER_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TAPER_INLINE inline __attribute__((always_inline))
#define TAPER_COLD __attribute__((cold, noinline))

#if defined(__CUDACC__)
#define TAPER_HOST_DEVICE __host__ __device__
#else
#define TAPER_HOST_DEVICE
#endif

// Distance between two variables that must not share a cache line.
#define TAPER_CACHE_LINE 64
