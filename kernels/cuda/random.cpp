#include "taper/kernels/cuda/random.h"

#include "taper/kernels/cuda/kernels.h"

namespace taper::kernels::cuda {

Status random(const RandomArgs& args, Stream stream) {
  if (args.numel == 0) return {};
  switch (args.op) {
    case RandomOp::kUniform:
    case RandomOp::kBernoulli:
      return random_uniform(args, stream);
    case RandomOp::kNormal:
    case RandomOp::kLogNormal:
      return random_normal(args, stream);
    case RandomOp::kExponential:
    case RandomOp::kCauchy:
    case RandomOp::kGeometric:
      return random_transformed(args, stream);
    case RandomOp::kRandomRange:
    case RandomOp::kRandomFull:
      return random_integers(args, stream);
    case RandomOp::kPermutation:
      return random_permutation(args, stream);
  }
  return unsupported();
}

}  // namespace taper::kernels::cuda
