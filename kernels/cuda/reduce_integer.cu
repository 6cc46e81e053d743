#include "taper/kernels/cuda/reduce.h"

namespace taper::kernels::cuda {

#define TAPER_FIND(T)                                      \
  template <>                                              \
  ReduceKernels find_reduction<T>(ReduceClass reduction) { \
    return find_number_reduction<T>(reduction);            \
  }
TAPER_FIND(int64_t)
TAPER_FIND(int32_t)
TAPER_FIND(int16_t)
TAPER_FIND(int8_t)
TAPER_FIND(uint8_t)
#undef TAPER_FIND

#define TAPER_FIND(U)                    \
  template <>                            \
  ReduceKernels find_count<U>() {        \
    return reduce_kernels<CountOp<U>>(); \
  }
TAPER_FIND(uint64_t)
TAPER_FIND(uint32_t)
TAPER_FIND(uint16_t)
TAPER_FIND(uint8_t)
#undef TAPER_FIND

}  // namespace taper::kernels::cuda
