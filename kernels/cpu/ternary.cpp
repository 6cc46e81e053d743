#include "taper/kernels/functors/ternary.h"

#include "taper/kernels/cpu/elementwise.h"

TAPER_CPU_BEGIN

namespace {

// Where moves bits: a loop per element size serves all dtypes.
template <class T>
bool where_loop(const Run& run) {
  const bool* a = static_cast<const bool*>(run.in[0]);
  const T* b = static_cast<const T*>(run.in[1]);
  const T* c = static_cast<const T*>(run.in[2]);
  T* out = static_cast<T*>(run.out);
  const int64_t n = run.count;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    // With a mask: a choice would become a branch, which random conditions make slow.
    const T mask = static_cast<T>(-static_cast<T>(a[i]));
    out[i] = static_cast<T>((b[i] & mask) | (c[i] & ~mask));
  }
  return true;
}

template <class Op>
FoundLoop find_any(ScalarType compute) {
  return find_loop<Op, 3, float, double, int64_t, int32_t, int16_t, int8_t, uint8_t, bool>(compute);
}
template <>
FoundLoop find_any<functors::Where>(ScalarType dtype) {
  switch (element_size(dtype)) {
    case 1:
      return {&where_loop<uint8_t>};
    case 2:
      return {&where_loop<uint16_t>};
    case 4:
      return {&where_loop<uint32_t>};
    default:
      return {&where_loop<uint64_t>};
  }
}

FoundLoop find_ternary(TernaryOp op, ScalarType compute) {
#define TAPER_FIND_A(name) find_any<functors::name>(compute)
#define TAPER_FIND_F(name) find_loop<functors::name, 3, float, double>(compute)
#define TAPER_CASE(name, dtypes) \
  case TernaryOp::k##name:       \
    return TAPER_FIND_##dtypes(name);
  switch (op) {
    TAPER_TERNARY_OPS(TAPER_CASE)
    default:
      return {};
  }
}

}  // namespace

Status ternary(const TernaryArgs& args, Stream stream) {
  const bool where = args.op == TernaryOp::kWhere;
  return run_elementwise(args,
                         find_ternary(args.op, where ? args.dtype : compute_dtype(args.dtype)),
                         {where ? kBool : args.dtype, args.dtype, args.dtype}, !where, stream);
}

TAPER_CPU_END
