#include "taper/kernels/cpu/fused.h"
#include "taper/kernels/cpu/random.h"
#include "taper/kernels/cpu/random_scalar.h"
#include "taper/kernels/cpu/vec.h"

#include <cstring>

TAPER_CPU_BEGIN

namespace {

using V = Vec<float>;

TAPER_INLINE V fused(V a, V b, V c) { return fused_multiply_add(a, b, c); }

// Natural logarithm of numbers in (0, 1], after Cephes' logf (Moshier): the mantissa in [sqrt(1/2),
// sqrt(2)), a polynomial, the exponent times ln 2 in two parts.
TAPER_INLINE V log_of_uniform(V x) {
  using Bits = V::Bits;
  const Bits bits = x.bits();
  const Bits biased = (bits >> 23) - 126;
  const V mantissa = V::from_bits((bits & 0x007fffff) | 0x3f000000);  // in [0.5, 1)
  const Mask<float> small = mantissa < V(0.707106781186547524f);
  const V exponent = V(__builtin_convertvector(biased + small.raw, V::Raw));
  const V r = (mantissa - V(1.f)) + select(small, mantissa, V(0.f));
  const V r2 = r * r;
  V p = 7.0376836292e-2f;
  p = fused(p, r, V(-1.1514610310e-1f));
  p = fused(p, r, V(1.1676998740e-1f));
  p = fused(p, r, V(-1.2420140846e-1f));
  p = fused(p, r, V(1.4249322787e-1f));
  p = fused(p, r, V(-1.6668057665e-1f));
  p = fused(p, r, V(2.0000714765e-1f));
  p = fused(p, r, V(-2.4999993993e-1f));
  p = fused(p, r, V(3.3333331174e-1f));
  p = fused(p * r, r2, exponent * V(-2.12194440e-4f));
  p = fused(r2, V(-0.5f), p);
  return fused(exponent, V(0.693359375f), r + p);
}

// Sine and cosine of angles in [0, 2 pi), after Cephes' sinf and cosf: octants, pi / 4 in three
// parts.
TAPER_INLINE void sincos_of_angle(V x, V& sine, V& cosine) {
  using Bits = V::Bits;
  const V quarters = x * V(1.27323954473516f);
  const Bits octant = (__builtin_convertvector(quarters.raw, Bits) + 1) & ~1;
  const V y = V(__builtin_convertvector(octant, V::Raw));
  V r = fused(y, V(-0.78515625f), x);
  r = fused(y, V(-2.4187564849853515625e-4f), r);
  r = fused(y, V(-3.77489497744594108e-8f), r);
  const V r2 = r * r;
  V c = fused(V(2.443315711809948e-5f), r2, V(-1.388731625493765e-3f));
  c = fused(c, r2, V(4.166664568298827e-2f)) * r2;
  c = fused(c, r2, r2 * V(-0.5f)) + V(1.f);
  V s = fused(V(-1.9515295891e-4f), r2, V(8.3321608736e-3f));
  s = fused(s, r2, V(-1.6666654611e-1f)) * r2;
  s = fused(s, r, r);
  const Mask<float> swapped = {(octant & 2) != 0};
  const Bits sine_sign = (octant & 4) << 29;
  const Bits cosine_sign = (~(octant - 2) & 4) << 29;
  sine = V::from_bits(select(swapped, c, s).bits() ^ sine_sign);
  cosine = V::from_bits(select(swapped, s, c).bits() ^ cosine_sign);
}

// Box-Muller on `blocks` blocks of 16 uniforms: the first 8 of a block give the radii, the last 8
// the angles. Eight blocks at a time, regrouped so that any register width fits.
void box_muller(float* data, int64_t blocks, float mean, float std) {
  constexpr int kHalf = 8, kGroup = 8;
  alignas(kVecBytes) float radii[kGroup * kHalf] = {}, angles[kGroup * kHalf] = {};
  for (int64_t block = 0; block < blocks; block += kGroup) {
    const int n = static_cast<int>(std::min<int64_t>(kGroup, blocks - block));
    float* const group = data + block * 2 * kHalf;
    for (int b = 0; b < n; ++b) {
      std::memcpy(radii + b * kHalf, group + b * 2 * kHalf, kHalf * sizeof(float));
      std::memcpy(angles + b * kHalf, group + (b * 2 + 1) * kHalf, kHalf * sizeof(float));
    }
    for (int i = 0; i < n * kHalf; i += V::kSize) {
      const V radius = sqrt(V(-2.f) * log_of_uniform(V(1.f) - V::load(radii + i)));
      V sine, cosine;
      sincos_of_angle(V(6.283185307179586f) * V::load(angles + i), sine, cosine);
      fused(radius * cosine, V(std), V(mean)).store(radii + i);
      fused(radius * sine, V(std), V(mean)).store(angles + i);
    }
    for (int b = 0; b < n; ++b) {
      std::memcpy(group + b * 2 * kHalf, radii + b * kHalf, kHalf * sizeof(float));
      std::memcpy(group + (b * 2 + 1) * kHalf, angles + b * kHalf, kHalf * sizeof(float));
    }
  }
}

// In double one block at a time with the C library's functions, whose results PyTorch has too.
void box_muller(double* data, int64_t blocks, double mean, double std) {
  for (int64_t i = 0; i < blocks * 16; i += 16) {
    for (int64_t j = i; j < i + 8; ++j) {
      const double radius = std::sqrt(-2 * std::log(1 - data[j]));
      const double angle = kTwoPi * data[j + 8];
      data[j] = fused_multiply_add(radius * std::cos(angle), std, mean);
      data[j + 8] = fused_multiply_add(radius * std::sin(angle), std, mean);
    }
  }
}

void fill_unit(CpuRngState& state, float* out, int64_t count) {
  fill_from_words(state, out, count, [](uint32_t word) { return uniform_float(word); });
}
void fill_unit(CpuRngState& state, double* out, int64_t count) {
  fill_from_longs(state, out, count, [](uint64_t word) { return uniform_double(word); });
}

// 16 and more: uniforms in order, turned into normals by blocks of 16. In place of a partial block
// the last 16 elements are drawn anew; float and double draw the partial block too before that,
// halves do not.
template <class T>
void fill_normal(CpuRngState& state, T* out, int64_t count, double mean, double std) {
  using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const Number m = static_cast<Number>(mean), s = static_cast<Number>(std);
  Number buffer[kRandomChunk];
  const auto fill = [&](T* to, int64_t n) {
    Number* const numbers = std::is_same_v<T, Number> ? reinterpret_cast<Number*>(to) : buffer;
    fill_unit(state, numbers, n);
    box_muller(numbers, n / 16, m, s);
    if constexpr (!std::is_same_v<T, Number>) store_rounded(to, numbers, n);
  };
  const int64_t drawn = sizeof(T) == 2 ? count / 16 * 16 : count;
  for (int64_t done = 0; done < drawn; done += kRandomChunk) {
    fill(out + done, std::min(kRandomChunk, drawn - done));
  }
  if (count % 16 != 0) fill(out + count - 16, 16);
}

}  // namespace

Status random_normal(const RandomArgs& args, CpuRngState& state) {
  const double mean = args.p[0].d, std = args.p[1].d;
  return for_floating(args.dtype, [&]<class T>(T) {
    T* const out = static_cast<T*>(args.out);
    if (args.numel >= 16) {
      fill_normal(state, out, args.numel, mean, std);
    } else {
      for (int64_t i = 0; i < args.numel; ++i) {
        out[i] = static_cast<T>(fused_multiply_add(draw_normal(state), std, mean));
      }
    }
    return Status{};
  });
}

TAPER_CPU_END
