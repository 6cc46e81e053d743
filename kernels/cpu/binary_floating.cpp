#include "taper/kernels/cpu/elementwise.h"
#include "taper/kernels/functors/binary.h"
#include "taper/kernels/functors/gradients.h"

TAPER_CPU_BEGIN

FoundLoop find_binary_floating(BinaryOp op, ScalarType compute) {
#define TAPER_CASE_A(name)
#define TAPER_CASE_N(name)
#define TAPER_CASE_F(name) \
  case BinaryOp::k##name:  \
    return find_loop<functors::name, 2, float, double>(compute);
#define TAPER_CASE_C(name)
#define TAPER_CASE_I(name)
#define TAPER_CASE(name, dtypes) TAPER_CASE_##dtypes(name)
  switch (op) {
    TAPER_BINARY_OPS(TAPER_CASE)
    default:
      return {};
  }
}

TAPER_CPU_END
