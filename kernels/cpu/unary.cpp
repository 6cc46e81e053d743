#include "taper/kernels/cpu/elementwise.h"

TAPER_CPU_BEGIN

namespace {

FoundLoop find_unary(UnaryOp op, ScalarType compute) {
#define TAPER_FIND_A find_unary_number(op, compute)
#define TAPER_FIND_F find_unary_floating(op, compute)
#define TAPER_FIND_P find_unary_answer(op, compute)
#define TAPER_FIND_I find_unary_integer(op, compute)
#define TAPER_CASE(name, dtypes) \
  case UnaryOp::k##name:         \
    return TAPER_FIND_##dtypes;
  switch (op) {
    TAPER_UNARY_OPS(TAPER_CASE)
    default:
      return {};
  }
}

}  // namespace

Status unary(const UnaryArgs& args, Stream stream) {
  return run_elementwise(args, find_unary(args.op, compute_dtype(args.dtype)), {args.dtype}, true,
                         stream);
}

TAPER_CPU_END
