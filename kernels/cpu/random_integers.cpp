#include "taper/kernels/cpu/random.h"

#include <utility>

TAPER_CPU_BEGIN

namespace {

// word % divisor by two multiplications (Lemire, Kaser and Kurz, 2019); exact for 32 bits.
class Modulo {
 public:
  explicit Modulo(uint32_t divisor) : divisor_(divisor), inverse_(~uint64_t{0} / divisor + 1) {}
  TAPER_INLINE uint32_t operator()(uint32_t word) const {
    const uint64_t fraction = inverse_ * word;
    return static_cast<uint32_t>((static_cast<unsigned __int128>(fraction) * divisor_) >> 64);
  }

 private:
  uint64_t divisor_, inverse_;
};

template <class T>
TAPER_INLINE T to_number(uint64_t value) {
  return static_cast<T>(static_cast<int64_t>(value));
}

// base + word % range, wrapping. From 2^28 on, where the remainder of 32 bits would be visibly
// uneven, PyTorch takes 64 bits. Range 0 stands for 2^64: the bits as they come.
template <class T>
void fill_range(CpuRngState& state, T* out, int64_t count, uint64_t base, uint64_t range) {
  if (range == 0) {
    fill_from_longs(state, out, count, [](uint64_t word) { return to_number<T>(word); });
  } else if (range >= uint64_t{1} << 28) {
    fill_from_longs(state, out, count,
                    [=](uint64_t word) { return to_number<T>(word % range + base); });
  } else if ((range & (range - 1)) == 0) {
    const uint32_t mask = static_cast<uint32_t>(range - 1);
    fill_from_words(state, out, count,
                    [=](uint32_t word) { return to_number<T>((word & mask) + base); });
  } else {
    const Modulo modulo(static_cast<uint32_t>(range));
    fill_from_words(state, out, count,
                    [=](uint32_t word) { return to_number<T>(modulo(word) + base); });
  }
}

// All integers from 0 that the dtype holds exactly; bits of two words for int64 and double only.
template <class T>
void fill_full(CpuRngState& state, T* out, int64_t count) {
  if constexpr (std::is_same_v<T, int64_t>) {
    fill_from_longs(state, out, count,
                    [](uint64_t word) { return to_number<T>(word & ~(uint64_t{1} << 63)); });
  } else if constexpr (std::is_same_v<T, double>) {
    constexpr uint64_t kRange = (uint64_t{1} << 53) + 1;
    fill_from_longs(state, out, count, [](uint64_t word) { return to_number<T>(word % kRange); });
  } else if constexpr (std::is_same_v<T, bool>) {
    fill_from_words(state, out, count, [](uint32_t word) { return (word & 1u) != 0; });
  } else if constexpr (std::is_integral_v<T>) {
    constexpr uint32_t kMask = (uint64_t{1} << (8 * sizeof(T) - std::is_signed_v<T>)) - 1;
    fill_from_words(state, out, count, [](uint32_t word) { return static_cast<T>(word & kMask); });
  } else {
    constexpr int kDigits = std::is_same_v<T, float> ? 24 : std::is_same_v<T, Half> ? 11 : 8;
    const Modulo modulo((uint32_t{1} << kDigits) + 1);
    fill_from_words(state, out, count, [=](uint32_t word) { return to_number<T>(modulo(word)); });
  }
}

// Fisher and Yates. From 2^32 / 20 elements on, where 32 bits would favour small remainders,
// PyTorch draws 64 bits and builds the permutation inside out.
template <class T>
void fill_permutation(CpuRngState& state, T* out, int64_t count) {
  if (count >= static_cast<int64_t>(UINT32_MAX / 20)) {
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t place = taper::detail::draw_long(state) % static_cast<uint64_t>(i + 1);
      out[i] = static_cast<T>(i);
      std::swap(out[i], out[place]);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(i);
  uint32_t words[kRandomChunk];
  for (int64_t done = 0; done < count - 1; done += kRandomChunk) {
    const int64_t n = std::min(kRandomChunk, count - 1 - done);
    draw_words(state, words, n);
    for (int64_t i = done; i < done + n; ++i) {
      std::swap(out[i], out[i + words[i - done] % static_cast<uint32_t>(count - i)]);
    }
  }
}

}  // namespace

Status random_integers(const RandomArgs& args, CpuRngState& state) {
  return for_any(args.dtype, [&]<class T>(T) {
    T* const out = static_cast<T*>(args.out);
    if (args.op == RandomOp::kRandomFull) {
      fill_full(state, out, args.numel);
    } else {
      const uint64_t base = static_cast<uint64_t>(args.p[0].i);
      fill_range(state, out, args.numel, base, static_cast<uint64_t>(args.p[1].i) - base);
    }
    return Status{};
  });
}

Status random_permutation(const RandomArgs& args, CpuRngState& state) {
  return for_number(args.dtype, [&]<class T>(T) {
    fill_permutation(state, static_cast<T*>(args.out), args.numel);
    return Status{};
  });
}

TAPER_CPU_END
