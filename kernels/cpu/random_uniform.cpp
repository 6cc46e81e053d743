#include "taper/kernels/cpu/fused.h"
#include "taper/kernels/cpu/random.h"

TAPER_CPU_BEGIN

namespace {

// A number that rounds to the excluded upper bound becomes the lower one, as in PyTorch.
void fill_uniform(CpuRngState& state, float* out, int64_t count, float from, float to) {
  const float range = to - from;
  if (from == 0 && to == 1) {
    fill_from_words(state, out, count, [](uint32_t word) { return uniform_float(word); });
    return;
  }
  fill_from_words(state, out, count, [=](uint32_t word) {
    const float value = fused_multiply_add(uniform_float(word), range, from);
    return value == to ? from : value;
  });
}

void fill_uniform(CpuRngState& state, double* out, int64_t count, double from, double to) {
  const double range = to - from;
  fill_from_longs(state, out, count, [=](uint64_t word) {
    const double value = fused_multiply_add(uniform_double(word), range, from);
    return value == to ? from : value;
  });
}

// Halves are rounded floats: here the upper bound is met often.
template <class T>
void fill_uniform(CpuRngState& state, T* out, int64_t count, float from, float to) {
  const uint16_t first = T(from).bits, excluded = T(to).bits;
  float numbers[kRandomChunk];
  for (int64_t done = 0; done < count; done += kRandomChunk) {
    const int64_t n = std::min(kRandomChunk, count - done);
    fill_uniform(state, numbers, n, from, to);
    store_rounded(out + done, numbers, n);
    for (int64_t i = done; i < done + n; ++i) {
      out[i].bits = out[i].bits == excluded ? first : out[i].bits;
    }
  }
}

// yes[i] = 1 where a uniform number is below p[i]: 53 bits for double, 24 for the others.
template <class P>
void draw_bernoulli_each(CpuRngState& state, uint8_t* yes, const P* p, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<P, double>) {
      yes[i] = uniform_double(taper::detail::draw_long(state)) < p[i];
    } else {
      yes[i] = uniform_float(taper::detail::draw_word(state)) < static_cast<float>(p[i]);
    }
  }
}

template <class T, class Draw>
void fill_from_bytes(T* out, int64_t count, const Draw& draw) {
  uint8_t yes[kRandomChunk];
  for (int64_t done = 0; done < count; done += kRandomChunk) {
    const int64_t n = std::min(kRandomChunk, count - done);
    draw(yes, done, n);
    for (int64_t i = 0; i < n; ++i) out[done + i] = static_cast<T>(yes[i]);
  }
}

template <class P>
bool all_probabilities(const P* p, int64_t count) {
  int64_t good = 0;
  for (int64_t i = 0; i < count; ++i) good += (p[i] >= P(0)) & (p[i] <= P(1));
  return good == count;
}

}  // namespace

Status random_uniform(const RandomArgs& args, CpuRngState& state) {
  return for_floating(args.dtype, [&]<class T>(T) {
    using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;
    fill_uniform(state, static_cast<T*>(args.out), args.numel, static_cast<Number>(args.p[0].d),
                 static_cast<Number>(args.p[1].d));
    return Status{};
  });
}

Status random_bernoulli(const RandomArgs& args, CpuRngState& state) {
  if (args.probabilities != nullptr) {
    return for_floating(args.probabilities_dtype, [&]<class P>(P) {
      const P* const p = static_cast<const P*>(args.probabilities);
      if (!all_probabilities(p, args.numel)) {
        return Status{Code::kInvalidValue, 0, 0, "a probability outside [0, 1]"};
      }
      return for_any(args.dtype, [&]<class T>(T) {
        fill_from_bytes(static_cast<T*>(args.out), args.numel,
                        [&](uint8_t* yes, int64_t done, int64_t n) {
                          draw_bernoulli_each(state, yes, p + done, n);
                        });
        return Status{};
      });
    });
  }
  const int64_t threshold = bernoulli_threshold(args.p[0].d);
  return for_any(args.dtype, [&]<class T>(T) {
    fill_from_bytes(static_cast<T*>(args.out), args.numel, [&](uint8_t* yes, int64_t, int64_t n) {
      draw_bernoulli(state, yes, n, threshold);
    });
    return Status{};
  });
}

TAPER_CPU_END
