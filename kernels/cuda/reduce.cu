#include "taper/kernels/cuda/reduce.h"

#include <limits>

#include "taper/kernels/cuda/dtypes.h"
#include "taper/kernels/cuda/kernels.h"

namespace taper::kernels::cuda {

namespace {

struct Chosen {
  ReduceClass reduction;
  ReduceEnding ending = kAsItIs;
};

Status count(const ReduceArgs& args, ReduceEnding ending, const Stream& stream) {
  const size_t size = element_size(args.dtype);
  ReduceCall call{};
  call.in = args.in;
  call.out[0] = args.out;
  call.ending = ending;
  call.mask = ~uint64_t{0} >> (64 - 8 * size);
  if (is_floating_point(args.dtype)) call.mask >>= 1;
  return run_reduction(size == 8   ? find_count<uint64_t>()
                       : size == 4 ? find_count<uint32_t>()
                       : size == 2 ? find_count<uint16_t>()
                                   : find_count<uint8_t>(),
                       call, args.plan, stream);
}

ReduceEnding zero_norm(ScalarType dtype) {
  return dtype == kFloat    ? kZeroNormFloat
         : dtype == kDouble ? kZeroNormDouble
         : dtype == kHalf   ? kZeroNormHalf
                            : kZeroNormBFloat16;
}

/// Norms by their exponent; p = 0 is a count.
Chosen choose_norm(double p) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (p == 1) return {ReduceClass::kAbsSum};
  if (p == 2) return {ReduceClass::kSquareSum, kRootOf};
  if (p == kInfinity) return {ReduceClass::kMaxAbs};
  if (p == -kInfinity) return {ReduceClass::kMinAbs};
  return {ReduceClass::kPowerSum};
}

}  // namespace

Status reduce(const ReduceArgs& args, Stream stream) {
  const bool floating = is_floating_point(args.dtype);
  Chosen chosen{ReduceClass::kSum};
  switch (args.op) {
    case ReduceOp::kAny:
      return count(args, kAnyOf, stream);
    case ReduceOp::kAll:
      return count(args, kAllOf, stream);
    case ReduceOp::kCountNonzero:
      return count(args, kCountOf, stream);
    case ReduceOp::kSum:
      break;
    case ReduceOp::kNanSum:
      chosen = {floating ? ReduceClass::kNanSum : ReduceClass::kSum};
      break;
    case ReduceOp::kProd:
      chosen = {ReduceClass::kProduct};
      break;
    case ReduceOp::kSumSquares:
      chosen = {ReduceClass::kSquareSum};
      break;
    case ReduceOp::kMax:
      chosen = {ReduceClass::kMax};
      break;
    case ReduceOp::kMin:
      chosen = {ReduceClass::kMin};
      break;
    default:
      if (!floating) return unsupported();
      if (args.op == ReduceOp::kMean)
        chosen = {ReduceClass::kSum, kMeanOf};
      else if (args.op == ReduceOp::kNormL1)
        chosen = choose_norm(1);
      else if (args.op == ReduceOp::kNormL2)
        chosen = choose_norm(2);
      else if (args.op == ReduceOp::kNormInf)
        chosen = {ReduceClass::kMaxAbs};
      else if (args.op == ReduceOp::kNormNegInf)
        chosen = {ReduceClass::kMinAbs};
      else if (args.op != ReduceOp::kNormP)
        return unsupported();
      else if (args.p.d == 0)
        return count(args, zero_norm(args.dtype), stream);
      else
        chosen = choose_norm(args.p.d);
  }
  if (floating && args.out_dtype != args.dtype) return unsupported();
  ReduceCall call{};
  call.in = args.in;
  call.out[0] = args.out;
  call.p = args.p.d;
  call.ending = chosen.ending;
  return for_number_or_byte(args.dtype, [&]<class T>(T) {
    return run_reduction(find_reduction<T>(chosen.reduction), call, args.plan, stream);
  });
}

}  // namespace taper::kernels::cuda
