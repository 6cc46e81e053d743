#pragma once

#include "taper/kernels/cuda/device/reduction.cuh"
#include "taper/kernels/functors/math.h"

// Ops of device/reduction.cuh: sums, products, extremes, norms and counts; mean and variance;
// positions of extremes.

namespace taper::kernels::cuda {

// Bool is read as the byte that it is.

template <class A>
__device__ __forceinline__ A lowest() {
  if constexpr (!functors::is_integer<A>) {
    return -static_cast<A>(__builtin_huge_val());
  } else {
    return sizeof(A) == 8 ? static_cast<A>(uint64_t{1} << 63) : static_cast<A>(-2147483647 - 1);
  }
}
template <class A>
__device__ __forceinline__ A highest() {
  if constexpr (!functors::is_integer<A>) {
    return static_cast<A>(__builtin_huge_val());
  } else {
    return static_cast<A>(~lowest<A>());
  }
}

/// What a result is made into when all of it is there (ReduceCall::ending).
enum ReduceEnding : int32_t {
  kAsItIs,
  kMeanOf,
  kRootOf,
  kCountOf,
  kAnyOf,
  kAllOf,
  kZeroNormFloat,  ///< counts as numbers of a floating dtype
  kZeroNormDouble,
  kZeroNormHalf,
  kZeroNormBFloat16,
};

// ---- Sums and the like: a rule says what an element counts for and how two of them become one ---

// Integers wrap.
struct SumRule {
  static constexpr bool kOrders = false;
  template <class A>
  static __device__ __forceinline__ A identity() {
    return A(0);
  }
  template <class A>
  static __device__ __forceinline__ A map(A x, const ReduceCall&) {
    return x;
  }
  template <class A>
  __device__ __forceinline__ A operator()(A a, A b) const {
    return functors::add(a, b);
  }
  template <class A>
  static __device__ __forceinline__ A finish(A sum, const ReduceCall& call) {
    if constexpr (functors::is_integer<A>)
      return sum;
    else
      return call.ending == kMeanOf ? sum / static_cast<A>(call.count) : sum;
  }
};
struct NanSumRule : SumRule {
  template <class A>
  static __device__ __forceinline__ A map(A x, const ReduceCall&) {
    return x != x ? A(0) : x;
  }
};
struct AbsSumRule : SumRule {
  template <class A>
  static __device__ __forceinline__ A map(A x, const ReduceCall&) {
    return functors::abs(x);
  }
};
struct SquareSumRule : SumRule {
  template <class A>
  static __device__ __forceinline__ A map(A x, const ReduceCall&) {
    return functors::mul(x, x);
  }
  template <class A>
  static __device__ __forceinline__ A finish(A sum, const ReduceCall& call) {
    if constexpr (functors::is_integer<A>)
      return sum;
    else
      return call.ending == kRootOf ? functors::sqrt(sum) : sum;
  }
};
struct PowerSumRule : SumRule {
  template <class A>
  static __device__ __forceinline__ A map(A x, const ReduceCall& call) {
    return functors::pow(functors::abs(x), static_cast<A>(call.p));
  }
  template <class A>
  static __device__ __forceinline__ A finish(A sum, const ReduceCall& call) {
    return functors::pow(sum, static_cast<A>(1 / call.p));
  }
};
struct ProductRule : SumRule {
  template <class A>
  static __device__ __forceinline__ A identity() {
    return A(1);
  }
  template <class A>
  __device__ __forceinline__ A operator()(A a, A b) const {
    return functors::mul(a, b);
  }
};
struct MaxRule : MaxFold {
  static constexpr bool kOrders = true;
  template <class A>
  static __device__ __forceinline__ A identity() {
    return lowest<A>();
  }
  template <class A>
  static __device__ __forceinline__ A map(A x, const ReduceCall&) {
    return x;
  }
  template <class A>
  static __device__ __forceinline__ A finish(A best, const ReduceCall&) {
    return best;
  }
};
struct MinRule : MinFold {
  static constexpr bool kOrders = true;
  template <class A>
  static __device__ __forceinline__ A identity() {
    return highest<A>();
  }
  template <class A>
  static __device__ __forceinline__ A map(A x, const ReduceCall&) {
    return x;
  }
  template <class A>
  static __device__ __forceinline__ A finish(A best, const ReduceCall&) {
    return best;
  }
};
/// Norms are never negative: that of nothing is 0.
struct MaxAbsRule : MaxRule {
  template <class A>
  static __device__ __forceinline__ A identity() {
    return A(0);
  }
  template <class A>
  static __device__ __forceinline__ A map(A x, const ReduceCall&) {
    return functors::abs(x);
  }
};
struct MinAbsRule : MinRule {
  template <class A>
  static __device__ __forceinline__ A map(A x, const ReduceCall&) {
    return functors::abs(x);
  }
  template <class A>
  static __device__ __forceinline__ A finish(A best, const ReduceCall& call) {
    return call.count == 0 ? A(0) : best;
  }
};

/// Floats accumulate in float (double for double), integers in 64 bits. Extremes keep their dtype.
template <class T, class Rule>
struct FoldOp {
  using In = T;
  using C = compute_t<T>;
  static constexpr bool kInteger = functors::is_integer<C>;
  using A =
      std::conditional_t<!kInteger, C,
                         std::conditional_t<Rule::kOrders && sizeof(T) < 8, int32_t, int64_t>>;
  using Out = std::conditional_t<kInteger && !Rule::kOrders, int64_t, T>;
  using Fold = Rule;

  static __device__ __forceinline__ A identity() { return Rule::template identity<A>(); }

  struct State {
    A folded = identity();

    template <int kPer, int N>
    __device__ __forceinline__ void add(const C (&x)[N], int count, uint32_t, uint32_t, uint32_t,
                                        const ReduceCall& call) {
#pragma unroll
      for (int u = 0; u < N; ++u) {
        if (u < count) folded = Rule()(folded, Rule::map(static_cast<A>(x[u]), call));
      }
    }
    __device__ __forceinline__ A total(const ReduceCall&) const { return folded; }
  };

  static __device__ __forceinline__ void store(const ReduceCall& call, int64_t offset, A value) {
    const A result = Rule::finish(value, call);
    Out* const out = static_cast<Out*>(call.out[0]) + offset;
    if constexpr (kInteger)
      *out = static_cast<Out>(result);
    else
      *out = narrow<T>(result);
  }
};

/// How many elements are not zero. U has the element's size; call.mask leaves out the sign bit of
/// floats.
template <class U>
struct CountOp {
  using In = U;
  using A = int64_t;
  using Fold = AddFold;

  static __device__ __forceinline__ A identity() { return 0; }

  struct State {
    int64_t found = 0;

    template <int kPer, int N>
    __device__ __forceinline__ void add(const U (&x)[N], int count, uint32_t, uint32_t, uint32_t,
                                        const ReduceCall& call) {
      const U mask = static_cast<U>(call.mask);
      unsigned more = 0;
#pragma unroll
      for (int u = 0; u < N; ++u) more += u < count && (x[u] & mask) != 0 ? 1 : 0;
      found += more;
    }
    __device__ __forceinline__ A total(const ReduceCall&) const { return found; }
  };

  static __device__ __forceinline__ void store(const ReduceCall& call, int64_t offset, A found) {
    void* const out = call.out[0];
    switch (call.ending) {
      case kAnyOf:
        static_cast<bool*>(out)[offset] = found != 0;
        break;
      case kAllOf:
        static_cast<bool*>(out)[offset] = found == call.count;
        break;
      case kZeroNormFloat:
        static_cast<float*>(out)[offset] = static_cast<float>(found);
        break;
      case kZeroNormDouble:
        static_cast<double*>(out)[offset] = static_cast<double>(found);
        break;
      case kZeroNormHalf:
        static_cast<__half*>(out)[offset] = narrow<__half>(static_cast<float>(found));
        break;
      case kZeroNormBFloat16:
        static_cast<__nv_bfloat16*>(out)[offset] = narrow<__nv_bfloat16>(static_cast<float>(found));
        break;
      default:
        static_cast<int64_t*>(out)[offset] = found;
    }
  }
};

// ---- Mean and variance --------------------------------------------------------------------------

/// A few elements at a time: two passes over them while they are in registers, then Welford's step
/// for all of them at once, in double.
template <class T>
struct MomentsOp {
  using In = T;
  using C = compute_t<T>;
  using A = Moments<double>;
  using Fold = MergeMoments;

  static __device__ __forceinline__ A identity() { return {0, 0, 0}; }

  struct State {
    double mean = 0, m2 = 0;
    uint32_t seen = 0;

    template <int kPer, int N>
    __device__ __forceinline__ void add(const C (&x)[N], int count, uint32_t, uint32_t, uint32_t,
                                        const ReduceCall&) {
      const C n = static_cast<C>(count);
      C sum = 0;
#pragma unroll
      for (int u = 0; u < N; ++u) sum += u < count ? x[u] : C(0);
      const C middle = sum / n;
      // The middle is rounded; the sum of distances tells by how much.
      C off = 0, squares = 0;
#pragma unroll
      for (int u = 0; u < N; ++u) {
        const C distance = u < count ? x[u] - middle : C(0);
        off += distance;
        squares += distance * distance;
      }
      const C before = static_cast<C>(seen);
      seen += static_cast<uint32_t>(count);
      const C ratio = n / static_cast<C>(seen);
      const double more = static_cast<double>(middle) + static_cast<double>(off / n);
      const double more_m2 = static_cast<double>(squares) - static_cast<double>(off * (off / n));
      const double distance = more - mean;
      if (before == C(0)) {
        mean = more;
        m2 = more_m2;
      } else {
        mean += distance * static_cast<double>(ratio);
        m2 += more_m2 + distance * distance * static_cast<double>(before * ratio);
      }
    }
    __device__ __forceinline__ A total(const ReduceCall&) const {
      return {mean, m2, static_cast<double>(seen)};
    }
  };

  /// out: variance and mean, either may be null; p is the correction. As in PyTorch, the divisor
  /// does not fall below 0: too few elements give 0 / 0 or m2 / 0.
  static __device__ __forceinline__ void store(const ReduceCall& call, int64_t offset, A all) {
    const double count = static_cast<double>(call.count);
    const double divisor = count > call.p ? count - call.p : 0.0;
    const double nan = __longlong_as_double(0x7ff8000000000000ll);
    const bool empty = call.count == 0;
    if (call.out[0]) {
      const C variance = static_cast<C>(empty ? nan : all.m2 / divisor);
      static_cast<T*>(call.out[0])[offset] = narrow<T>(variance);
    }
    if (call.out[1]) {
      const C mean = static_cast<C>(empty ? nan : all.mean);
      static_cast<T*>(call.out[1])[offset] = narrow<T>(mean);
    }
  }
};

// ---- Positions of extremes ----------------------------------------------------------------------

template <class C>
struct Candidate {
  int64_t position;  ///< -1: none
  C value;
};

/// The first of equals; NaN before all.
template <bool kLargest, class C>
__device__ __forceinline__ bool better(C x, C than) {
  return (kLargest ? x > than : x < than) || (x != x && than == than);
}

template <bool kLargest>
struct BestFold {
  template <class C>
  __device__ __forceinline__ Candidate<C> operator()(Candidate<C> a, Candidate<C> b) const {
    const bool later = b.position > a.position;
    const bool takes_b =
        later ? better<kLargest>(b.value, a.value) : !better<kLargest>(a.value, b.value);
    return a.position < 0 ? b : b.position < 0 ? a : takes_b ? b : a;
  }
};

template <class T, bool kLargest>
struct ArgOf {
  using In = T;
  using C = compute_t<T>;
  using Key = std::conditional_t<functors::is_integer<C> && sizeof(C) < 4, int32_t, C>;
  using A = Candidate<Key>;
  using Fold = BestFold<kLargest>;

  static __device__ __forceinline__ A identity() { return {-1, Key(0)}; }

  struct State {
    static constexpr uint32_t kNone = ~0u;
    Key value = 0;
    uint32_t position = kNone;

    template <int kPer, int N>
    __device__ __forceinline__ void add(const C (&x)[N], int count, uint32_t first, uint32_t stride,
                                        uint32_t step, const ReduceCall&) {
#pragma unroll
      for (int u = 0; u < N; ++u) {
        const Key key = static_cast<Key>(x[u]);
        // A thread meets its elements in ascending order.
        if (u < count && (position == kNone || better<kLargest>(key, value))) {
          value = key;
          position = first + u / kPer * stride + u % kPer * step;
        }
      }
    }
    __device__ __forceinline__ A total(const ReduceCall& call) const {
      return {position == kNone ? -1 : call.position + position, value};
    }
  };

  /// out: values, which may be null, and positions.
  static __device__ __forceinline__ void store(const ReduceCall& call, int64_t offset, A best) {
    static_cast<int64_t*>(call.out[1])[offset] = best.position;
    if (!call.out[0]) return;
    T* const value = static_cast<T*>(call.out[0]) + offset;
    if constexpr (functors::is_integer<Key>)
      *value = static_cast<T>(best.value);
    else
      *value = narrow<T>(best.value);
  }
};

}  // namespace taper::kernels::cuda
