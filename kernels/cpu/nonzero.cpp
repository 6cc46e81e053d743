#include <algorithm>
#include <cstring>

#include "taper/kernels/cpu/cpu.h"
#include "taper/kernels/cpu/index.h"

TAPER_CPU_BEGIN

namespace {

// Elements worth a thread.
constexpr int64_t kCountGrain = 65536;
constexpr int64_t kMaskBlock = 8;

// NaN is not zero; -0 is.
template <class T>
TAPER_INLINE bool is_nonzero(T x) {
  if constexpr (is_half<T>)
    return (x.bits & 0x7fffu) != 0;
  else
    return x != T(0);
}

template <class T>
int64_t count_range(const T* in, int64_t count) {
  int64_t total = 0;
  // Short blocks count in 32 bits, which keeps the lanes narrow.
  constexpr int64_t kBlock = 1 << 16;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(count, begin + kBlock);
    uint32_t found = 0;
    for (int64_t i = begin; i < end; ++i) found += is_nonzero(in[i]);
    total += found;
  }
  return total;
}

uint64_t mask_word(const bool* mask) {
  uint64_t word;
  std::memcpy(&word, mask, sizeof word);
  return word;
}

// A mask's bytes are 0 or 1: words add up as eight sums of bytes, 255 at a time before one could
// overflow.
template <>
int64_t count_range(const bool* mask, int64_t count) {
  constexpr int64_t kWords = 255;
  constexpr uint64_t kEven = 0x00ff00ff00ff00ffu;
  int64_t total = 0, i = 0;
  while (i + kMaskBlock <= count) {
    const int64_t words = std::min(kWords, (count - i) / kMaskBlock);
    uint64_t sums = 0;
    for (int64_t w = 0; w < words; ++w) sums += mask_word(mask + i + w * kMaskBlock);
    const uint64_t pairs = (sums & kEven) + (sums >> 8 & kEven);
    total += static_cast<int64_t>(pairs * 0x0001000100010001u >> 48);
    i += words * kMaskBlock;
  }
  for (; i < count; ++i) total += mask[i];
  return total;
}

// body(i) for each set element, in order. Masks are mostly long runs of one value: eight at a time.
template <class Body>
void for_each_set(const bool* mask, int64_t count, const Body& body) {
  int64_t i = 0;
  for (; i + kMaskBlock <= count; i += kMaskBlock) {
    if (mask_word(mask + i) == 0) continue;
    for (int64_t j = i; j < i + kMaskBlock; ++j) {
      if (mask[j]) body(j);
    }
  }
  for (; i < count; ++i) {
    if (mask[i]) body(i);
  }
}

// out = elements of `in` where mask, `wanted` of them. Without a branch per element: each is
// written, and the place moves on if it was wanted; only near the end of `out` that could be too
// much.
template <class U>
void select_masked(U* out, const U* in, const bool* mask, int64_t count, int64_t wanted) {
  int64_t to = 0, i = 0;
  for (; i + kMaskBlock <= count && to + kMaskBlock <= wanted; i += kMaskBlock) {
    const uint64_t word = mask_word(mask + i);
    if (word == 0) continue;
    if (word == 0x0101010101010101u) {
      std::memcpy(out + to, in + i, kMaskBlock * sizeof(U));
      to += kMaskBlock;
      continue;
    }
    for (int64_t j = i; j < i + kMaskBlock; ++j) {
      out[to] = in[j];
      to += mask[j];
    }
  }
  for (; i < count && to < wanted; ++i) {
    if (mask[i]) out[to++] = in[i];
  }
}

// Runs body(begin, end, number of set elements before begin) on several threads. A first pass
// counts.
template <class Body>
Status for_counted_pieces(const bool* mask, int64_t count, const Stream& stream, const Body& body) {
  const int64_t pieces = (count + kCountGrain - 1) / kCountGrain;
  if (pieces <= 1 || stream.host->num_threads() == 1) {
    body(0, count, 0);
    return {};
  }
  const Scratch<int64_t> before(stream, pieces + 1);
  if (before.get() == nullptr) return before.failure();
  before[0] = 0;
  const auto end_of = [&](int64_t piece) { return std::min(count, (piece + 1) * kCountGrain); };
  parallel_for(stream, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      before[p + 1] = count_range(mask + p * kCountGrain, end_of(p) - p * kCountGrain);
    }
  });
  for (int64_t p = 0; p < pieces; ++p) before[p + 1] += before[p];
  parallel_for(stream, pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) body(p * kCountGrain, end_of(p), before[p]);
  });
  return {};
}

// Appends the coordinates of each nonzero element.
template <class T>
void write_coordinates(int64_t* out, const T* in, int rank, const int64_t* sizes) {
  if (rank == 0) return;  // [n, 0]: nothing to write
  const int64_t row = sizes[rank - 1];
  int64_t rows = 1;
  for (int d = 0; d + 1 < rank; ++d) rows *= sizes[d];
  int64_t at[kMaxRank] = {};
  for (int64_t r = 0; r < rows; ++r, in += row) {
    for (int64_t i = 0; i < row; ++i) {
      if (!is_nonzero(in[i])) continue;
      for (int d = 0; d + 1 < rank; ++d) *out++ = at[d];
      *out++ = i;
    }
    for (int d = rank - 2; d >= 0 && ++at[d] == sizes[d]; --d) at[d] = 0;
  }
}

}  // namespace

Status count_nonzero(int64_t* host_count, const void* in, ScalarType dtype, int64_t numel,
                     Stream stream) {
  return for_any(dtype, [&]<class T>(T) {
    const T* const from = static_cast<const T*>(in);
    int64_t total = 0;
    parallel_for(stream, numel, kCountGrain, [&](int64_t begin, int64_t end) {
      __atomic_fetch_add(&total, count_range(from + begin, end - begin), __ATOMIC_RELAXED);
    });
    *host_count = total;
    return Status{};
  });
}

Status nonzero(int64_t* out, const void* in, ScalarType dtype, int rank, const int64_t* sizes,
               Stream) {
  return for_any(dtype, [&]<class T>(T) {
    const T* const from = static_cast<const T*>(in);
    if constexpr (std::is_same_v<T, bool>) {
      if (rank == 1) {
        for_each_set(from, sizes[0], [&](int64_t i) { *out++ = i; });
        return Status{};
      }
    }
    write_coordinates(out, from, rank, sizes);
    return Status{};
  });
}

Status masked_select(void* out, const void* in, const bool* mask, ScalarType dtype, int64_t numel,
                     Stream stream) {
  return for_element_size(dtype, [&]<class U>(U) {
    return for_counted_pieces(mask, numel, stream, [&](int64_t begin, int64_t end, int64_t before) {
      const int64_t wanted = count_range(mask + begin, end - begin);
      select_masked(static_cast<U*>(out) + before, static_cast<const U*>(in) + begin, mask + begin,
                    end - begin, wanted);
    });
  });
}

Status masked_scatter(void* self, const bool* mask, const void* src, ScalarType dtype,
                      int64_t numel, Stream stream) {
  return for_element_size(dtype, [&]<class U>(U) {
    return for_counted_pieces(mask, numel, stream, [&](int64_t begin, int64_t end, int64_t before) {
      U* const to = static_cast<U*>(self) + begin;
      const U* from = static_cast<const U*>(src) + before;
      for_each_set(mask + begin, end - begin, [&](int64_t i) { to[i] = *from++; });
    });
  });
}

TAPER_CPU_END
