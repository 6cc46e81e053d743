#include "taper/kernels/cpu/elementwise.h"

TAPER_CPU_BEGIN

namespace {

// The float that rounds to any 16-bit type as `value` itself does: cut towards zero, with the last
// bit set when something was cut (rounding to odd). Through an ordinary float it would round twice.
TAPER_INLINE float sticky_float(double value) {
  const float nearest = static_cast<float>(value);
  uint32_t bits = taper::detail::float_bits(nearest);
  const double back = nearest;
  const bool inexact = back != value && value == value;
  const bool away = inexact && __builtin_fabs(back) > __builtin_fabs(value);
  bits = (bits - (away ? 1u : 0u)) | (inexact ? 1u : 0u);
  return taper::detail::bits_float(bits);
}

template <class From>
TAPER_INLINE float float_to_narrow(From value) {
  if constexpr (std::is_same_v<From, double>)
    return sticky_float(value);
  else
    return static_cast<float>(value);
}

template <class To, class From>
TAPER_INLINE To cast(From value) {
  constexpr bool kFromHalf = std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>;
  constexpr bool kToHalf = std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>;
  if constexpr (kFromHalf)
    return cast<To>(static_cast<float>(value));
  else if constexpr (std::is_same_v<To, bool>)
    return value != From(0);
  else if constexpr (kToHalf)
    return To(float_to_narrow(value));
  // Out-of-range numbers have no right answer; by way of int32 they wrap as in PyTorch.
  else if constexpr (std::is_integral_v<To> && sizeof(To) < 4 && std::is_floating_point_v<From>)
    return static_cast<To>(static_cast<int32_t>(value));
  else
    return static_cast<To>(value);
}

template <class T>
constexpr bool packs_to_float =
    std::is_same_v<T, float> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <class To, class From>
bool cast_loop(const Run& run) {
  const From* in = static_cast<const From*>(run.in[0]);
  To* out = static_cast<To*>(run.out);
  const int64_t n = run.count;
  int64_t i = 0;
  if constexpr (packs_to_float<To> && packs_to_float<From>) {
    constexpr int64_t kSize = Vec<float>::kSize;
    for (; i + kSize <= n; i += kSize) store(out + i, load(in + i));
  } else if constexpr (packs_to_float<To> && sizeof(To) == 2) {
    constexpr int64_t kSize = Vec<float>::kSize;
    float floats[kSize];
    for (; i + kSize <= n; i += kSize) {
      for (int64_t j = 0; j < kSize; ++j) floats[j] = float_to_narrow(in[i + j]);
      store(out + i, Vec<float>::load(floats));
    }
  }
#pragma GCC ivdep
  for (; i < n; ++i) out[i] = cast<To>(in[i]);
  return true;
}

template <class From>
Loop find_cast(ScalarType to) {
  Loop found = nullptr;
  (void)for_any(to, [&](auto zero) {
    found = &cast_loop<decltype(zero), From>;
    return Status{};
  });
  return found;
}

}  // namespace

Status copy(const CopyArgs& args, Stream stream) {
  const auto& plan = args.plan;
  Loop loop = nullptr;
  if (args.out_dtype != args.in_dtype) {
    (void)for_any(args.in_dtype, [&](auto zero) {
      loop = find_cast<decltype(zero)>(args.out_dtype);
      return Status{};
    });
    if (!loop) return unsupported();
  }
  if (plan.contiguous && plan.numel <= kCheapGrain) {
    if (loop)
      (void)loop({args.out, {args.in}, plan.numel, nullptr});
    else if (plan.numel > 0) {
      std::memcpy(args.out, args.in,
                  static_cast<size_t>(plan.numel) * element_size(args.out_dtype));
    }
    return {};
  }
  return walk({plan.numel,
               plan.rank,
               plan.sizes,
               1,
               {{args.out, plan.strides[0], args.out_dtype, false},
                {const_cast<void*>(args.in), plan.strides[1], args.in_dtype, false}},
               loop,
               nullptr,
               kCheapGrain},
              stream);
}

TAPER_CPU_END
