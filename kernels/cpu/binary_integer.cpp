#include "taper/kernels/cpu/elementwise.h"
#include "taper/kernels/functors/binary.h"

TAPER_CPU_BEGIN

FoundLoop find_binary_integer(BinaryOp op, ScalarType compute) {
#define TAPER_CASE_A(name)
#define TAPER_CASE_N(name)
#define TAPER_CASE_F(name)
#define TAPER_CASE_C(name)
#define TAPER_CASE_I(name) \
  case BinaryOp::k##name:  \
    return find_loop<functors::name, 2, int64_t, int32_t, int16_t, int8_t, uint8_t, bool>(compute);
#define TAPER_CASE(name, dtypes) TAPER_CASE_##dtypes(name)
  switch (op) {
    TAPER_BINARY_OPS(TAPER_CASE)
    default:
      return {};
  }
}

TAPER_CPU_END
