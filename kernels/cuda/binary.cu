#include "taper/kernels/cuda/elementwise.h"

// Unlike the CPU's, these kernels do not report an integer divided by zero; the result is what the
// functors make of it (docs/numerics.md).

namespace taper::kernels::cuda {

namespace {

BinaryClass class_of(BinaryOp op) {
#define TAPER_CASE(name, dtypes) \
  case BinaryOp::k##name:        \
    return BinaryClass::dtypes;
  switch (op) {
    TAPER_BINARY_OPS(TAPER_CASE)
    default:
      return BinaryClass::A;  // whose table does not have it either
  }
#undef TAPER_CASE
}

FoundKernels<2> find(BinaryOp op, ScalarType dtype) {
  FoundKernels<2> found;
#define TAPER_FIND(letter) \
  [&](auto zero) { found = find_binary<BinaryClass::letter, decltype(zero)>(op); }
  switch (class_of(op)) {
    case BinaryClass::A:
      for_stored_any(dtype, TAPER_FIND(A));
      break;
    case BinaryClass::N:
      for_stored_number(dtype, TAPER_FIND(N));
      break;
    case BinaryClass::F:
      for_stored_floating(dtype, TAPER_FIND(F));
      break;
    case BinaryClass::C:
      for_stored_any(dtype, TAPER_FIND(C));
      break;
    case BinaryClass::I:
      for_stored_integer(dtype, TAPER_FIND(I));
      break;
  }
#undef TAPER_FIND
  if (is_reduced_floating_point(dtype)) found.strided = find(op, kFloat).strided;
  return found;
}

// A half is compared with a number as it would be stored, so that full(x, 0.1) == 0.1 holds.
Value rounded_to(ScalarType half, const Value& value) {
  const float number = static_cast<float>(value.d);
  return double{half == kHalf ? float{Half(number)} : float{BFloat16(number)}};
}

}  // namespace

Status binary(const BinaryArgs& args, Stream stream) {
  const FoundKernels<2> found = find(args.op, args.dtype);
  const ScalarType compute = compute_dtype(args.dtype);
  if (args.scalar_mask != 0 && args.out_dtype == kBool && is_reduced_floating_point(args.dtype)) {
    BinaryArgs rounded = args;
    rounded.scalar = rounded_to(args.dtype, args.scalar);
    return run_elementwise(rounded, found, {args.dtype, args.dtype}, compute, stream);
  }
  return run_elementwise(args, found, {args.dtype, args.dtype}, compute, stream);
}

}  // namespace taper::kernels::cuda
