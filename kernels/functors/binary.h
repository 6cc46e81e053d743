#pragma once

#include "taper/kernels/functors/math.h"
#include "taper/kernels/functors/special.h"

// One functor per BinaryOp, of the same name; the gradients are in gradients.h. P as in unary.h.

namespace taper::kernels::functors {

#define TAPER_OPERATOR \
  template <class P>   \
  TAPER_INLINE TAPER_HOST_DEVICE

// ---- Arithmetic ---------------------------------------------------------------------------------

// `alpha` is 1 nearly always; the branch is the same for all elements and leaves the loop.
struct Add {
  TAPER_OPERATOR P operator()(P a, P b, const ParametersOf<P>& p) const {
    return p.alpha == 1 ? add(a, b) : add(a, mul(P(p.alpha), b));
  }
};
struct Sub {
  TAPER_OPERATOR P operator()(P a, P b, const ParametersOf<P>& p) const {
    return p.alpha == 1 ? sub(a, b) : sub(a, mul(P(p.alpha), b));
  }
};
struct Mul {
  TAPER_OPERATOR P operator()(P a, P b) const { return mul(a, b); }
};
struct Div {
  TAPER_OPERATOR P operator()(P a, P b) const { return a / b; }
};

// Quotient towards zero. The processor traps on x / 0 and on lowest / -1, which is x * -1 wrapped.
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P integer_quotient(P a, P b) {
  if constexpr (P(-1) < P(0)) {
    if (b == P(-1)) return neg(a);
  }
  return b == P(0) ? P(0) : static_cast<P>(a / b);
}
template <class P>
TAPER_INLINE TAPER_HOST_DEVICE P integer_rest(P a, P b) {
  return sub(a, mul(integer_quotient(a, b), b));
}

struct DivTrunc : DividesIntegers {
  TAPER_OPERATOR P operator()(P a, P b) const {
    if constexpr (is_integer<P>)
      return integer_quotient(a, b);
    else
      return trunc(a / b);
  }
};
struct Fmod : DividesIntegers {
  TAPER_OPERATOR P operator()(P a, P b) const {
    if constexpr (is_integer<P>)
      return integer_rest(a, b);
    else
      return fmod(a, b);
  }
};
/// Python's %: the sign of the divisor.
struct Remainder : DividesIntegers {
  TAPER_OPERATOR P operator()(P a, P b) const {
    const P rest = Fmod()(a, b);
    const auto other_side = (rest != P(0)) & (is_negative(rest) ^ is_negative(b));
    return select(other_side, add(rest, b), rest);
  }
};
/// Python's //, which floors the exact quotient and not the rounded one.
struct DivFloor : DividesIntegers {
  TAPER_OPERATOR P operator()(P a, P b) const {
    const P rest = Fmod()(a, b);
    const auto other_side = (rest != P(0)) & (is_negative(rest) ^ is_negative(b));
    if constexpr (is_integer<P>) {
      return sub(integer_quotient(a, b), select(other_side, P(1), P(0)));
    } else {
      const P exact = (a - rest) / b;  // a whole number, up to rounding
      const P quotient = exact - select(other_side, P(1), P(0));
      P whole = floor(quotient);
      whole = select(quotient - whole > P(0.5), whole + P(1), whole);
      whole = select(quotient == P(0), copysign(P(0), a / b), whole);
      return select(b == P(0), a / b, whole);
    }
  }
};
struct Pow : Costly {
  TAPER_OPERATOR P operator()(P a, P b) const {
    if constexpr (is_integer<P>)
      return integer_pow(a, static_cast<int64_t>(b));
    else
      return pow(a, b);
  }
};

// ---- Extremes -----------------------------------------------------------------------------------

struct Maximum {
  TAPER_OPERATOR P operator()(P a, P b) const { return maximum(a, b); }
};
struct Minimum {
  TAPER_OPERATOR P operator()(P a, P b) const { return minimum(a, b); }
};
struct Fmax {
  TAPER_OPERATOR P operator()(P a, P b) const { return fmax(a, b); }
};
struct Fmin {
  TAPER_OPERATOR P operator()(P a, P b) const { return fmin(a, b); }
};

// ---- Functions of two numbers -------------------------------------------------------------------

struct Atan2 : Costly {
  TAPER_OPERATOR P operator()(P a, P b) const { return atan2(a, b); }
};
struct Hypot : Costly {
  TAPER_OPERATOR P operator()(P a, P b) const { return hypot(a, b); }
};
struct Copysign {
  TAPER_OPERATOR P operator()(P a, P b) const { return copysign(a, b); }
};
struct Xlogy : Costly {  // 0 log(anything but NaN) is 0
  TAPER_OPERATOR P operator()(P a, P b) const {
    return select((a == P(0)) & !isnan(b), P(0), a * log(b));
  }
};
struct LogAddExp : Costly {
  TAPER_OPERATOR P operator()(P a, P b) const {
    const P sum = maximum(a, b) + log1p(exp(-abs(a - b)));
    return select((a == b) & isinf(a), a, sum);
  }
};

// ---- Answers: bool, or a packet's mask ----------------------------------------------------------

struct Eq {
  TAPER_OPERATOR auto operator()(P a, P b) const { return a == b; }
};
struct Ne {
  TAPER_OPERATOR auto operator()(P a, P b) const { return a != b; }
};
struct Lt {
  TAPER_OPERATOR auto operator()(P a, P b) const { return a < b; }
};
struct Le {
  TAPER_OPERATOR auto operator()(P a, P b) const { return a <= b; }
};
struct Gt {
  TAPER_OPERATOR auto operator()(P a, P b) const { return a > b; }
};
struct Ge {
  TAPER_OPERATOR auto operator()(P a, P b) const { return a >= b; }
};
struct LogicalAnd {
  TAPER_OPERATOR auto operator()(P a, P b) const {
    return decltype(a != b)((a != P(0)) & (b != P(0)));
  }
};
struct LogicalOr {
  TAPER_OPERATOR auto operator()(P a, P b) const {
    return decltype(a != b)((a != P(0)) | (b != P(0)));
  }
};
struct LogicalXor {
  TAPER_OPERATOR auto operator()(P a, P b) const {
    return decltype(a != b)((a != P(0)) ^ (b != P(0)));
  }
};

// ---- Integers and bool --------------------------------------------------------------------------

struct BitwiseAnd {
  TAPER_OPERATOR P operator()(P a, P b) const { return static_cast<P>(a & b); }
};
struct BitwiseOr {
  TAPER_OPERATOR P operator()(P a, P b) const { return static_cast<P>(a | b); }
};
struct BitwiseXor {
  TAPER_OPERATOR P operator()(P a, P b) const { return static_cast<P>(a ^ b); }
};

// By as many bits as there are, or more, or a negative number: nothing is left but the sign.
template <class P>
constexpr uint64_t kBitCount = is_bool<P> ? 1 : 8 * sizeof(P);
struct ShiftLeft {
  TAPER_OPERATOR P operator()(P a, P b) const {
    const uint64_t count = static_cast<uint64_t>(b);
    return count < kBitCount<P> ? static_cast<P>(static_cast<uint64_t>(a) << count) : P(0);
  }
};
struct ShiftRight {
  TAPER_OPERATOR P operator()(P a, P b) const {
    const uint64_t count = static_cast<uint64_t>(b);
    // The highest count still defined for P leaves the sign of a signed number alone.
    constexpr uint64_t kHighest = kBitCount<P> - 1;
    if constexpr (P(-1) < P(0))
      return static_cast<P>(a >> (count < kHighest ? count : kHighest));
    else
      return count <= kHighest ? static_cast<P>(a >> count) : P(0);
  }
};

#undef TAPER_OPERATOR

}  // namespace taper::kernels::functors
