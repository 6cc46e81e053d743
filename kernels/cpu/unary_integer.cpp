#include "taper/kernels/cpu/elementwise.h"
#include "taper/kernels/functors/unary.h"

TAPER_CPU_BEGIN

FoundLoop find_unary_integer(UnaryOp op, ScalarType compute) {
#define TAPER_CASE_A(name)
#define TAPER_CASE_F(name)
#define TAPER_CASE_P(name)
#define TAPER_CASE_I(name) \
  case UnaryOp::k##name:   \
    return find_loop<functors::name, 1, int64_t, int32_t, int16_t, int8_t, uint8_t, bool>(compute);
#define TAPER_CASE(name, dtypes) TAPER_CASE_##dtypes(name)
  switch (op) {
    TAPER_UNARY_OPS(TAPER_CASE)
    default:
      return {};
  }
}

TAPER_CPU_END
