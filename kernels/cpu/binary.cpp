#include "taper/kernels/cpu/elementwise.h"

TAPER_CPU_BEGIN

namespace {

FoundLoop find_binary(BinaryOp op, ScalarType compute) {
#define TAPER_FIND_A find_binary_any(op, compute)
#define TAPER_FIND_N find_binary_number(op, compute)
#define TAPER_FIND_F find_binary_floating(op, compute)
#define TAPER_FIND_C find_binary_answer(op, compute)
#define TAPER_FIND_I find_binary_integer(op, compute)
#define TAPER_CASE(name, dtypes) \
  case BinaryOp::k##name:        \
    return TAPER_FIND_##dtypes;
  switch (op) {
    TAPER_BINARY_OPS(TAPER_CASE)
    default:
      return {};
  }
}

// A half is compared with a number as it would be stored, so that full(x, 0.1) == 0.1 holds.
Value rounded_to(ScalarType half, const Value& value) {
  const float number = static_cast<float>(value.d);
  return double{half == kHalf ? float{Half(number)} : float{BFloat16(number)}};
}

}  // namespace

Status binary(const BinaryArgs& args, Stream stream) {
  const FoundLoop found = find_binary(args.op, compute_dtype(args.dtype));
  if (args.scalar_mask != 0 && args.out_dtype == kBool && is_reduced_floating_point(args.dtype)) {
    BinaryArgs rounded = args;
    rounded.scalar = rounded_to(args.dtype, args.scalar);
    return run_elementwise(rounded, found, {args.dtype, args.dtype}, true, stream);
  }
  return run_elementwise(args, found, {args.dtype, args.dtype}, true, stream);
}

TAPER_CPU_END
