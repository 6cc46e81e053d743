#include "taper/kernels/cpu/reduce.h"

TAPER_CPU_BEGIN

Status reduce(const ReduceArgs& args, Stream stream) {
  return for_any(args.dtype,
                 [&](auto element) { return reduce_dtype<decltype(element)>(args, stream); });
}

TAPER_CPU_END
