#include "taper/kernels/cpu/transfer.h"

#include <utility>

#include "taper/kernels/cpu/vec.h"

TAPER_CPU_BEGIN

namespace {

template <class T>
constexpr int kBlockBytes = sizeof(T) <= 2 ? 16 : kVecBytes;
template <class T>
constexpr int kBlock = kBlockBytes<T> / static_cast<int>(sizeof(T));

template <class T>
struct BlockRow {
  typedef T Raw __attribute__((vector_size(kBlockBytes<T>)));
};

// Interleaves two rows: a0 b0 a1 b1 ... from the first halves, and the same from the second halves.
template <class T, class Raw, size_t... i>
TAPER_INLINE void interleave(Raw& low, Raw& high, Raw a, Raw b, std::index_sequence<i...>) {
  constexpr int kHalf = kBlock<T> / 2;
  low = __builtin_shufflevector(a, b, (i / 2 + (i % 2) * kBlock<T>)...);
  high = __builtin_shufflevector(a, b, (kHalf + i / 2 + (i % 2) * kBlock<T>)...);
}

// Transposes a square of registers: after log2(kBlock) rounds in which row r meets row r + kBlock /
// 2, element (r, c) has become (c, r).
template <class T>
TAPER_INLINE void transpose_block(char* to, int64_t to_stride, const char* from,
                                  int64_t from_stride) {
  using Raw = typename BlockRow<T>::Raw;
  constexpr int kRows = kBlock<T>;
  Raw a[kRows], b[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) std::memcpy(&a[r], from + r * from_stride, sizeof(Raw));
  constexpr auto kLanes = std::make_index_sequence<kRows>();
  constexpr int kRounds = kRows == 16 ? 4 : kRows == 8 ? 3 : kRows == 4 ? 2 : 1;
#pragma GCC unroll 4
  for (int round = 0; round < kRounds; ++round) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows / 2; ++r) {
      interleave<T>(b[2 * r], b[2 * r + 1], a[r], a[r + kRows / 2], kLanes);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) a[r] = b[r];
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) std::memcpy(to + r * to_stride, &a[r], sizeof(Raw));
}

template <class T>
TAPER_INLINE T& at(char* data, int64_t offset) {
  return *reinterpret_cast<T*>(data + offset);
}

template <class T>
void move_strided(Side to, Side from, int64_t n0, int64_t n1) {
  for (int64_t j = 0; j < n1; ++j) {
    char* to_row = to.data + j * to.stride1;
    char* from_row = from.data + j * from.stride1;
    for (int64_t i = 0; i < n0; ++i) {
      at<T>(to_row, i * to.stride0) = at<T>(from_row, i * from.stride0);
    }
  }
}

// `to` is dense along dimension 0, `from` along dimension 1.
template <class T>
void move_transposed(Side to, Side from, int64_t n0, int64_t n1) {
  constexpr int64_t kStep = kBlock<T>;
  const int64_t whole0 = n0 - n0 % kStep, whole1 = n1 - n1 % kStep;
  // Down the rows of `from` first: each of its cache lines is used up in one or two visits, and
  // `to` is written in runs.
  for (int64_t j = 0; j < whole1; j += kStep) {
    for (int64_t i = 0; i < whole0; i += kStep) {
      transpose_block<T>(to.data + j * to.stride1 + i * to.stride0, to.stride1,
                         from.data + j * from.stride1 + i * from.stride0, from.stride0);
    }
  }
  const auto rest = [&](int64_t i, int64_t j, int64_t rest0, int64_t rest1) {
    move_strided<T>({to.data + i * to.stride0 + j * to.stride1, to.stride0, to.stride1},
                    {from.data + i * from.stride0 + j * from.stride1, from.stride0, from.stride1},
                    rest0, rest1);
  };
  if (whole0 < n0) rest(whole0, 0, n0 - whole0, whole1);
  if (whole1 < n1) rest(0, whole1, n0, n1 - whole1);
}

template <class T>
void fill_row(char* to, T value, int64_t n) {
  T* out = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) out[i] = value;
}

template <class T>
void move(Side to, Side from, int64_t n0, int64_t n1) {
  constexpr int64_t kSize = sizeof(T);
  if (n0 > 1 && n1 > 1 && to.stride0 != kSize && to.stride1 == kSize) {
    std::swap(n0, n1);
    std::swap(to.stride0, to.stride1);
    std::swap(from.stride0, from.stride1);
  }
  if (to.stride0 == kSize && from.stride0 == kSize) {
    if (to.stride1 == n0 * kSize && from.stride1 == to.stride1) n0 *= std::exchange(n1, 1);
    const auto bytes = static_cast<size_t>(n0 * kSize);
    for (int64_t j = 0; j < n1; ++j) {
      std::memcpy(to.data + j * to.stride1, from.data + j * from.stride1, bytes);
    }
  } else if (to.stride0 == kSize && from.stride0 == 0) {
    if (to.stride1 == n0 * kSize && from.stride1 == 0) n0 *= std::exchange(n1, 1);
    for (int64_t j = 0; j < n1; ++j) {
      fill_row<T>(to.data + j * to.stride1, at<T>(from.data, j * from.stride1), n0);
    }
  } else if (to.stride0 == kSize && from.stride1 == kSize) {
    move_transposed<T>(to, from, n0, n1);
  } else {
    move_strided<T>(to, from, n0, n1);
  }
}

template <class T>
void widen_as(float* to, const T* from, int64_t count) {
  constexpr int64_t kSize = Vec<float>::kSize;
  int64_t i = 0;
  for (; i + kSize <= count; i += kSize) load(from + i).store(to + i);
  if (i < count) load(from + i, count - i).store(to + i, count - i);
}

template <class T>
void narrow_as(T* to, const float* from, int64_t count) {
  constexpr int64_t kSize = Vec<float>::kSize;
  int64_t i = 0;
  for (; i + kSize <= count; i += kSize) store(to + i, Vec<float>::load(from + i));
  if (i < count) store(to + i, Vec<float>::load(from + i, count - i), count - i);
}

}  // namespace

void move_elements(int size, Side to, Side from, int64_t n0, int64_t n1) {
  switch (size) {
    case 1:
      return move<uint8_t>(to, from, n0, n1);
    case 2:
      return move<uint16_t>(to, from, n0, n1);
    case 4:
      return move<uint32_t>(to, from, n0, n1);
    default:
      return move<uint64_t>(to, from, n0, n1);
  }
}

void stream_copy(void* to, const void* from, int64_t bytes) {
  char* out = static_cast<char*>(to);
  const char* in = static_cast<const char*>(from);
  const int64_t misaligned = reinterpret_cast<uintptr_t>(out) % kVecBytes;
  const int64_t head = misaligned == 0 ? 0 : kVecBytes - misaligned;
  if (bytes < head + kVecBytes) {
    std::memcpy(out, in, static_cast<size_t>(bytes));
    return;
  }
  std::memcpy(out, in, static_cast<size_t>(head));
  int64_t i = head;
  for (; i + kVecBytes <= bytes; i += kVecBytes) {
    Vec<float>::Raw raw;
    std::memcpy(&raw, in + i, sizeof raw);
    Vec<float>(raw).stream(reinterpret_cast<float*>(out + i));
  }
  std::memcpy(out + i, in + i, static_cast<size_t>(bytes - i));
}

void widen(float* to, const void* from, ScalarType half, int64_t count) {
  if (half == kHalf)
    widen_as(to, static_cast<const Half*>(from), count);
  else
    widen_as(to, static_cast<const BFloat16*>(from), count);
}

void narrow(void* to, const float* from, ScalarType half, int64_t count) {
  if (half == kHalf)
    narrow_as(static_cast<Half*>(to), from, count);
  else
    narrow_as(static_cast<BFloat16*>(to), from, count);
}

TAPER_CPU_END
