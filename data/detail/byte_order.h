#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace taper::data::detail {

static_assert(std::endian::native == std::endian::little,
              "npy, safetensors and IDX are read and written for little-endian machines");

template <class T>
void swap_each(void* data, int64_t count, T (*swap)(T)) {
  char* at = static_cast<char*>(data);
  for (int64_t i = 0; i < count; ++i, at += sizeof(T)) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    value = swap(value);
    std::memcpy(at, &value, sizeof(T));
  }
}

/// Reverses the bytes of each element: big-endian to little-endian.
inline void swap_bytes(void* data, int64_t count, size_t element) {
  switch (element) {
    case 2:
      return swap_each<uint16_t>(data, count, [](uint16_t x) { return __builtin_bswap16(x); });
    case 4:
      return swap_each<uint32_t>(data, count, [](uint32_t x) { return __builtin_bswap32(x); });
    case 8:
      return swap_each<uint64_t>(data, count, [](uint64_t x) { return __builtin_bswap64(x); });
    default:
      return;
  }
}

}  // namespace taper::data::detail
