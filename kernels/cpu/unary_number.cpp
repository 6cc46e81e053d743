#include "taper/kernels/cpu/elementwise.h"
#include "taper/kernels/functors/unary.h"

TAPER_CPU_BEGIN

FoundLoop find_unary_number(UnaryOp op, ScalarType compute) {
#define TAPER_CASE_A(name)                                                                \
  case UnaryOp::k##name:                                                                  \
    return find_loop<functors::name, 1, float, double, int64_t, int32_t, int16_t, int8_t, \
                     uint8_t>(compute);
#define TAPER_CASE_F(name)
#define TAPER_CASE_P(name)
#define TAPER_CASE_I(name)
#define TAPER_CASE(name, dtypes) TAPER_CASE_##dtypes(name)
  switch (op) {
    TAPER_UNARY_OPS(TAPER_CASE)
    default:
      return {};
  }
}

TAPER_CPU_END
