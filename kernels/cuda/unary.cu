#include "taper/kernels/cuda/elementwise.h"

namespace taper::kernels::cuda {

namespace {

UnaryClass class_of(UnaryOp op) {
#define TAPER_CASE(name, dtypes) \
  case UnaryOp::k##name:         \
    return UnaryClass::dtypes;
  switch (op) {
    TAPER_UNARY_OPS(TAPER_CASE)
    default:
      return UnaryClass::A;  // whose table does not have it either
  }
#undef TAPER_CASE
}

FoundKernels<1> find(UnaryOp op, ScalarType dtype) {
  FoundKernels<1> found;
#define TAPER_FIND(letter) \
  [&](auto zero) { found = find_unary<UnaryClass::letter, decltype(zero)>(op); }
  switch (class_of(op)) {
    case UnaryClass::A:
      for_stored_number(dtype, TAPER_FIND(A));
      break;
    case UnaryClass::F:
      for_stored_floating(dtype, TAPER_FIND(F));
      break;
    case UnaryClass::P:
      for_stored_any(dtype, TAPER_FIND(P));
      break;
    case UnaryClass::I:
      for_stored_integer(dtype, TAPER_FIND(I));
      break;
  }
#undef TAPER_FIND
  if (is_reduced_floating_point(dtype)) found.strided = find(op, kFloat).strided;
  return found;
}

}  // namespace

Status unary(const UnaryArgs& args, Stream stream) {
  return run_elementwise(args, find(args.op, args.dtype), {args.dtype}, compute_dtype(args.dtype),
                         stream);
}

}  // namespace taper::kernels::cuda
