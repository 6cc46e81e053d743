#pragma once

// The emulator's bodies of ptx.cuh, from NVIDIA's tables of which lane holds what.

#include "taper/kernels/emulator/device.h"

namespace taper::kernels::cuda {

namespace emulated {

constexpr uint32_t kWarp = 0xffffffffu;

template <class T>
float half_word(uint32_t pair, int which) {
  const auto bits = static_cast<uint16_t>(pair >> (16 * which));
  if constexpr (std::is_same_v<T, __half>)
    return __half2float(__half(__half_raw{bits}));
  else
    return __builtin_bit_cast(float, uint32_t{bits} << 16);
}

struct Fragments {
  float* d;
  const uint32_t* a;
  const uint32_t* b;
};

template <class T>
TAPER_NO_TSAN emulator::WarpFault multiply(void* const* payloads, uint32_t) {
  float a[16][16], b[16][8], d[16][8] = {};
  for (int lane = 0; lane < 32; ++lane) {
    const auto& mine = *static_cast<Fragments*>(payloads[lane]);
    const int g = lane / 4, t = 2 * (lane % 4);
    for (int h = 0; h < 2; ++h) {
      a[g][t + h] = half_word<T>(mine.a[0], h);
      a[g + 8][t + h] = half_word<T>(mine.a[1], h);
      a[g][t + 8 + h] = half_word<T>(mine.a[2], h);
      a[g + 8][t + 8 + h] = half_word<T>(mine.a[3], h);
      b[t + h][g] = half_word<T>(mine.b[0], h);
      b[t + 8 + h][g] = half_word<T>(mine.b[1], h);
    }
  }
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 16; ++k) {
      for (int j = 0; j < 8; ++j) d[i][j] += a[i][k] * b[k][j];
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    const auto& mine = *static_cast<Fragments*>(payloads[lane]);
    const int g = lane / 4, t = 2 * (lane % 4);
    mine.d[0] += d[g][t];
    mine.d[1] += d[g][t + 1];
    mine.d[2] += d[g + 8][t];
    mine.d[3] += d[g + 8][t + 1];
  }
  return {};
}

struct Rows {
  uint32_t* result;
  const void* row;
};

// The lanes' own variables are passed around without an order that the thread sanitizer could see;
// the tiles in shared memory are read in its sight.
TAPER_NO_TSAN inline const uint16_t* row_of(void* const* payloads, int lane) {
  return static_cast<const uint16_t*>(static_cast<Rows*>(payloads[lane])->row);
}
TAPER_NO_TSAN inline void give_pair(void* payload, int tile, uint32_t pair) {
  static_cast<Rows*>(payload)->result[tile] = pair;
}

template <int N, bool kTransposed>
emulator::WarpFault load_tiles(void* const* payloads, uint32_t) {
  for (int tile = 0; tile < N; ++tile) {
    uint16_t values[8][8];
    for (int i = 0; i < 8; ++i) {
      const uint16_t* const row = row_of(payloads, 8 * tile + i);
      if (reinterpret_cast<uintptr_t>(row) % 16 != 0) {
        return {"reads a row that is not 16-byte aligned", 8 * tile + i};
      }
      for (int j = 0; j < 8; ++j) values[i][j] = row[j];
    }
    for (int lane = 0; lane < 32; ++lane) {
      const int g = lane / 4, t = 2 * (lane % 4);
      const uint32_t low = kTransposed ? values[t][g] : values[g][t];
      const uint32_t high = kTransposed ? values[t + 1][g] : values[g][t + 1];
      give_pair(payloads[lane], tile, low | high << 16);
    }
  }
  return {};
}

}  // namespace emulated

template <class T>
void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], TAPER_SITE) {
  emulated::Fragments payload{d, a, b};
  emulator::warp_collective(emulated::kWarp, &payload, &emulated::multiply<T>, "mma_m16n8k16", file,
                            line);
}
template <int N>
void ldmatrix(uint32_t (&r)[N], const void* row, TAPER_SITE) {
  static_assert(N == 1 || N == 2 || N == 4);
  emulated::Rows payload{r, row};
  emulator::warp_collective(emulated::kWarp, &payload, &emulated::load_tiles<N, false>, "ldmatrix",
                            file, line);
}
template <int N>
void ldmatrix_transposed(uint32_t (&r)[N], const void* row, TAPER_SITE) {
  static_assert(N == 1 || N == 2 || N == 4);
  emulated::Rows payload{r, row};
  emulator::warp_collective(emulated::kWarp, &payload, &emulated::load_tiles<N, true>,
                            "ldmatrix_transposed", file, line);
}
template <int N>
void cp_async(void* to, const void* from, int valid = N, TAPER_SITE) {
  static_assert(N == 4 || N == 8 || N == 16);
  if (reinterpret_cast<uintptr_t>(to) % N != 0 || reinterpret_cast<uintptr_t>(from) % N != 0) {
    emulator::device_fault("cp_async with an address that is not aligned to its size", file, line);
  }
  emulator::async_copy(to, from, N, valid, file, line);
}
inline void cp_async_commit() { emulator::async_commit(); }
template <int N>
void cp_async_wait() {
  emulator::async_wait(N);
}

}  // namespace taper::kernels::cuda
