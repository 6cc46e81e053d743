#include "taper/kernels/cpu/random.h"

TAPER_CPU_BEGIN

// The generator is one sequence: everything here is serial, and vectorised instead.
Status random(const RandomArgs& args, Stream) {
  CpuRngState& state = *static_cast<CpuRngState*>(args.generator);
  switch (args.op) {
    case RandomOp::kUniform:
      return random_uniform(args, state);
    case RandomOp::kBernoulli:
      return random_bernoulli(args, state);
    case RandomOp::kRandomRange:
    case RandomOp::kRandomFull:
      return random_integers(args, state);
    case RandomOp::kPermutation:
      return random_permutation(args, state);
    case RandomOp::kNormal:
      return random_normal(args, state);
    case RandomOp::kExponential:
    case RandomOp::kCauchy:
    case RandomOp::kGeometric:
    case RandomOp::kLogNormal:
      return random_transformed(args, state);
  }
  return unsupported();
}

TAPER_CPU_END
