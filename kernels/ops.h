#pragma once

#include <cstdint>

// The elementwise and reduction ops a device provides, by family. One enumerator here, its functor
// in functors/, and every layout and dtype of the family works.

namespace taper::kernels {

// name, functor in functors/unary.h. Floating input unless the comment says otherwise.
// Groups are marked by which dtypes they take:
//   A: any dtype but bool, result of the same dtype
//   F: floating dtypes, result of the same dtype
//   P: any dtype, result bool
//   I: integers and bool, result of the same dtype
// p0, p1, p2 are the parameters in UnaryArgs::p.
#define TAPER_UNARY_OPS(_)                                                          \
  _(Neg, A)                                                                         \
  _(Abs, A)                                                                         \
  _(Sign, A)                                                                        \
  _(Square, A)                                                                      \
  _(Floor, A)                                                                       \
  _(Ceil, A)                                                                        \
  _(Round, A)                                                                       \
  _(Trunc, A)                                                                       \
  _(Relu, A)                                                                        \
  _(Clamp, A) /* p0 = lowest, p1 = highest; infinite (int: extreme) where absent */ \
  _(ClampMin, A)                                                                    \
  _(ClampMax, A)  /* p0 */                                                          \
  _(PowScalar, A) /* x ** p0 */                                                     \
  _(Frac, F)                                                                        \
  _(Exp, F)                                                                         \
  _(Exp2, F)                                                                        \
  _(Expm1, F)                                                                       \
  _(Log, F)                                                                         \
  _(Log2, F)                                                                        \
  _(Log10, F)                                                                       \
  _(Log1p, F)                                                                       \
  _(Sqrt, F)                                                                        \
  _(Rsqrt, F)                                                                       \
  _(Reciprocal, F)                                                                  \
  _(Sin, F)                                                                         \
  _(Cos, F)                                                                         \
  _(Tan, F)                                                                         \
  _(Asin, F)                                                                        \
  _(Acos, F)                                                                        \
  _(Atan, F)                                                                        \
  _(Sinh, F)                                                                        \
  _(Cosh, F)                                                                        \
  _(Tanh, F)                                                                        \
  _(Asinh, F)                                                                       \
  _(Acosh, F)                                                                       \
  _(Atanh, F)                                                                       \
  _(Erf, F)                                                                         \
  _(Erfc, F)                                                                        \
  _(Erfinv, F)                                                                      \
  _(Lgamma, F)                                                                      \
  _(Digamma, F)                                                                     \
  _(Sigmoid, F)                                                                     \
  _(LogSigmoid, F)                                                                  \
  _(Silu, F)                                                                        \
  _(Mish, F)                                                                        \
  _(Gelu, F)                                                                        \
  _(GeluTanh, F)                                                                    \
  _(Softplus, F)  /* p0 = beta, p1 = threshold on beta * x */                       \
  _(Elu, F)       /* p0 = alpha, p1 = scale, p2 = input scale: elu, selu, celu */   \
  _(LeakyRelu, F) /* p0 = negative slope */                                         \
  _(Hardsigmoid, F)                                                                 \
  _(Hardswish, F)                                                                   \
  _(Threshold, A) /* x > p0 ? x : p1 */                                             \
  _(NanToNum, F)  /* p0 = nan, p1 = +inf, p2 = -inf */                              \
  _(LogicalNot, P)                                                                  \
  _(IsNan, P)                                                                       \
  _(IsInf, P)                                                                       \
  _(IsFinite, P)                                                                    \
  _(BitwiseNot, I)

//   A: any dtype, result of the same dtype (bool: or for Add, and for Mul)
//   N: numbers (no bool)   F: floating   C: any dtype, result bool   I: integers and bool
#define TAPER_BINARY_OPS(_)                                                                    \
  _(Add, A) /* a + alpha * b */                                                                \
  _(Sub, N) /* a - alpha * b */                                                                \
  _(Mul, A)                                                                                    \
  _(Div, F)                                                                                    \
  _(DivFloor, N)                                                                               \
  _(DivTrunc, N)                                                                               \
  _(Remainder, N)                                                                              \
  _(Fmod, N)                                                                                   \
  _(Pow, N)                                                                                    \
  _(Maximum, A)                                                                                \
  _(Minimum, A)                                                                                \
  _(Fmax, A)                                                                                   \
  _(Fmin, A)                                                                                   \
  _(Atan2, F)                                                                                  \
  _(Hypot, F)                                                                                  \
  _(Xlogy, F)                                                                                  \
  _(LogAddExp, F)                                                                              \
  _(Copysign, F)                                                                               \
  _(Eq, C)                                                                                     \
  _(Ne, C)                                                                                     \
  _(Lt, C)                                                                                     \
  _(Le, C)                                                                                     \
  _(Gt, C)                                                                                     \
  _(Ge, C)                                                                                     \
  _(LogicalAnd, C)                                                                             \
  _(LogicalOr, C)                                                                              \
  _(LogicalXor, C)                                                                             \
  _(BitwiseAnd, I)                                                                             \
  _(BitwiseOr, I)                                                                              \
  _(BitwiseXor, I)                                                                             \
  _(ShiftLeft, I)                                                                              \
  _(ShiftRight, I)                                                                             \
  /* Gradients of unary ops; a = the gradient that arrives, b = what is named. */              \
  _(ReluGrad, F)    /* b = result (or input): b > 0 ? a : 0 */                                 \
  _(SigmoidGrad, F) /* b = result: a * b * (1 - b) */                                          \
  _(TanhGrad, F)    /* b = result: a * (1 - b * b) */                                          \
  _(GeluGrad, F)                                                                               \
  _(GeluTanhGrad, F)                                                                           \
  _(SiluGrad, F)                                                                               \
  _(MishGrad, F)                                                                               \
  _(LogSigmoidGrad, F) /* b = input */                                                         \
  _(SoftplusGrad, F)   /* b = input; p as in Softplus */                                       \
  _(EluGrad, F)        /* b = input; p as in Elu */                                            \
  _(LeakyReluGrad, F)  /* b = input; p0 = slope */                                             \
  _(ThresholdGrad, F)  /* b = input: b > p0 ? a : 0 */                                         \
  _(ClampGrad, F)      /* b = input: p0 < b && b < p1 ? a : 0; infinite bounds do not count */ \
  _(HardsigmoidGrad, F)                                                                        \
  _(HardswishGrad, F) /* b = input */

//   A: any dtype   F: floating
#define TAPER_TERNARY_OPS(_)                                                                \
  _(Where, A)       /* a (bool) ? b : c */                                                  \
  _(ClampTensor, A) /* a limited to [b, c]; the upper bound wins; NaN anywhere gives NaN */ \
  _(Addcmul, A)     /* a + p0 * b * c */                                                    \
  _(Addcdiv, F)     /* a + p0 * b / c */                                                    \
  _(Lerp, F)        /* a + c * (b - a), from the nearer end */

// Accumulation: halves in float, float blocked, integers in int64. NaN wins in Max and Min.
#define TAPER_REDUCE_OPS(_)                                        \
  _(Sum)  /* floating -> same dtype; integers and bool -> int64 */ \
  _(Mean) /* floating */                                           \
  _(Prod) /* as Sum */                                             \
  _(Max)                                                           \
  _(Min) /* any dtype */                                           \
  _(Any)                                                           \
  _(All) /* any dtype -> bool */                                   \
  _(NormL1)                                                        \
  _(NormL2)                                                        \
  _(NormInf)                                                       \
  _(NormNegInf)                                                    \
  _(CountNonzero) /* -> int64 */                                   \
  _(NormP)        /* p0 = p */                                     \
  _(SumSquares)                                                    \
  _(NanSum)

#define TAPER_ENUMERATOR(name, ...) k##name,
enum class UnaryOp : int32_t { TAPER_UNARY_OPS(TAPER_ENUMERATOR) kCount };
enum class BinaryOp : int32_t { TAPER_BINARY_OPS(TAPER_ENUMERATOR) kCount };
enum class TernaryOp : int32_t { TAPER_TERNARY_OPS(TAPER_ENUMERATOR) kCount };
enum class ReduceOp : int32_t { TAPER_REDUCE_OPS(TAPER_ENUMERATOR) kCount };
#undef TAPER_ENUMERATOR

enum class ArgOp : int32_t { kMax, kMin };
enum class ScanOp : int32_t { kSum, kProd, kMax, kMin, kLogSumExp };
enum class ScatterOp : int32_t { kAssign, kAdd, kMul, kMax, kMin };
enum class RandomOp : int32_t {
  kUniform,      ///< p0 <= x < p1; floating
  kNormal,       ///< mean p0, standard deviation p1; floating
  kBernoulli,    ///< 1 with probability p0, else 0; any dtype
  kExponential,  ///< rate p0; floating
  kRandomRange,  ///< p0 <= x < p1, whole numbers; any dtype. p1 - p0 modulo 2^64, 0 being 2^64
  kRandomFull,   ///< random_() without bounds: every value the dtype can hold exactly
  kCauchy,       ///< median p0, scale p1
  kGeometric,    ///< success probability p0
  kLogNormal,    ///< mean p0, standard deviation p1 of the logarithm
  kPermutation,  ///< 0 .. n-1 in random order; integers and floating
};
enum class ResizeMode : int32_t { kNearest, kBilinear, kBilinearAlignCorners };

}  // namespace taper::kernels
