#pragma once

#include <cstdint>

#include "taper/core/macros.h"

// The threads that CPU work is spread over. None is started before the first piece of work that is
// large enough.

namespace taper {

/// Threads that one op may use, the caller's included. At first: TAPER_NUM_THREADS, else
/// OMP_NUM_THREADS, else the processors that this process may use (its affinity and its control
/// group's quota).
TAPER_API int get_num_threads();
/// Throws unless count is positive. Takes effect with the next op; results may differ in the last
/// bits.
TAPER_API void set_num_threads(int count);
/// Threads for independent work: data loading and graph engines. Taper's ops don't use it; a number
/// kept for programs that set it.
TAPER_API int get_num_interop_threads();
TAPER_API void set_num_interop_threads(int count);
/// Inside a body of parallel_for.
TAPER_API bool in_parallel_region();

namespace detail {
using ParallelBody = void (*)(void* context, int64_t begin, int64_t end);
TAPER_API void parallel_for(int64_t begin, int64_t end, int64_t grain, ParallelBody body,
                            void* context);
}  // namespace detail

/// Calls f(b, e) for pieces [b, e) of [begin, end), each of `grain` elements or more, on the
/// calling thread and the pool. The pieces depend on the range, the grain and the number of threads
/// alone. Serial when nested. If pieces throw, the others are finished and the exception of the
/// first such piece is rethrown.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  detail::parallel_for(
      begin, end, grain,
      [](void* context, int64_t b, int64_t e) { (*static_cast<const F*>(context))(b, e); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace taper
