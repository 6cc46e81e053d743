#include "taper/kernels/functors/ternary.h"

#include "taper/kernels/cuda/elementwise.h"

namespace taper::kernels::cuda {

template <class T>
struct FirstInput<functors::Where, T> {
  using type = bool;
};

namespace {

template <class Op>
FoundKernels<3> find_any(ScalarType dtype) {
  FoundKernels<3> found;
  for_stored_any(dtype, [&](auto zero) { found = kernels_of<Op, 3, decltype(zero)>(); });
  if (is_reduced_floating_point(dtype)) found.strided = &elementwise_strided<Op, 3, float>;
  return found;
}
// Where moves bits: a kernel per element size serves all dtypes.
template <>
FoundKernels<3> find_any<functors::Where>(ScalarType dtype) {
  switch (element_size(dtype)) {
    case 1:
      return kernels_of<functors::Where, 3, uint8_t>();
    case 2:
      return kernels_of<functors::Where, 3, uint16_t>();
    case 4:
      return kernels_of<functors::Where, 3, uint32_t>();
    default:
      return kernels_of<functors::Where, 3, uint64_t>();
  }
}

template <class Op>
FoundKernels<3> find_floating(ScalarType dtype) {
  FoundKernels<3> found;
  for_stored_floating(dtype, [&](auto zero) { found = kernels_of<Op, 3, decltype(zero)>(); });
  if (is_reduced_floating_point(dtype)) found.strided = &elementwise_strided<Op, 3, float>;
  return found;
}

FoundKernels<3> find(TernaryOp op, ScalarType dtype) {
#define TAPER_FIND_A(name) find_any<functors::name>(dtype)
#define TAPER_FIND_F(name) find_floating<functors::name>(dtype)
#define TAPER_CASE(name, dtypes) \
  case TernaryOp::k##name:       \
    return TAPER_FIND_##dtypes(name);
  switch (op) {
    TAPER_TERNARY_OPS(TAPER_CASE)
    default:
      return {};
  }
#undef TAPER_CASE
#undef TAPER_FIND_F
#undef TAPER_FIND_A
}

}  // namespace

Status ternary(const TernaryArgs& args, Stream stream) {
  const bool where = args.op == TernaryOp::kWhere;
  return run_elementwise(args, find(args.op, args.dtype),
                         {where ? kBool : args.dtype, args.dtype, args.dtype},
                         where ? args.dtype : compute_dtype(args.dtype), stream);
}

}  // namespace taper::kernels::cuda
