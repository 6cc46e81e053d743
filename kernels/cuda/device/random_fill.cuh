#pragma once

#include "taper/kernels/cuda/device/row.cuh"
#include "taper/kernels/functors/philox.h"

// out[element] = map(number), the numbers being PyTorch's (random.h). Neighbouring elements belong
// to neighbouring threads of PyTorch's grid; here one thread makes four neighbours' calls, and so
// stores four elements at once.

namespace taper::kernels::cuda {

constexpr int kRandomBlock = 256;
constexpr int kLanes = 4;  // threads of PyTorch's grid that one thread stands for

// What a call makes of its four words: kCount numbers of type Number.
struct DrawUniform {
  using Number = float;
  static constexpr int kCount = 4;
  static __device__ __forceinline__ void draw(const functors::Words4& w, float (&to)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = functors::uniform_of_word(w.word[i]);
  }
};
struct DrawUniformDouble {
  using Number = double;
  static constexpr int kCount = 2;
  static __device__ __forceinline__ void draw(const functors::Words4& w, double (&to)[2]) {
    to[0] = functors::uniform_of_words(w.word[0], w.word[1]);
    to[1] = functors::uniform_of_words(w.word[2], w.word[3]);
  }
};
struct DrawNormal {
  using Number = float;
  static constexpr int kCount = 4;
  static __device__ __forceinline__ void draw(const functors::Words4& w, float (&to)[4]) {
    functors::normals_of_words(w.word[0], w.word[1], to[0], to[1]);
    functors::normals_of_words(w.word[2], w.word[3], to[2], to[3]);
  }
};
struct DrawNormalDouble {
  using Number = double;
  static constexpr int kCount = 2;
  static __device__ __forceinline__ void draw(const functors::Words4& w, double (&to)[2]) {
    functors::normals_of_words(w, to[0], to[1]);
  }
};
struct DrawWord {
  using Number = uint32_t;
  static constexpr int kCount = 4;
  static __device__ __forceinline__ void draw(const functors::Words4& w, uint32_t (&to)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) to[i] = w.word[i];
  }
};
struct DrawLong {
  using Number = uint64_t;
  static constexpr int kCount = 2;
  static __device__ __forceinline__ void draw(const functors::Words4& w, uint64_t (&to)[2]) {
    to[0] = uint64_t{w.word[0]} << 32 | w.word[1];
    to[1] = uint64_t{w.word[2]} << 32 | w.word[3];
  }
};

/// The draws that make numbers for T.
template <class T>
using UniformFor = std::conditional_t<std::is_same_v<T, double>, DrawUniformDouble, DrawUniform>;
template <class T>
using NormalFor = std::conditional_t<std::is_same_v<T, double>, DrawNormalDouble, DrawNormal>;

/// One rounding, here and on the host.
__device__ __forceinline__ float fused_multiply_add(float a, float b, float c) {
  return ::fmaf(a, b, c);
}
__device__ __forceinline__ double fused_multiply_add(double a, double b, double c) {
  return ::fma(a, b, c);
}

struct RandomFill {
  uint64_t seed, first_call;
  unsigned count;    ///< elements
  unsigned threads;  ///< of PyTorch's grid
  unsigned steps;    ///< threads / 4 * calls
  bool packed;       ///< out is aligned to four elements, or to 16 bytes
};

template <class Draw, class T, class Map>
__global__ void __launch_bounds__(kRandomBlock) random_fill(T* out, RandomFill fill, Map map) {
  const unsigned step = blockIdx.x * kRandomBlock + threadIdx.x;
  if (step >= fill.steps) return;
  const unsigned quads = fill.threads / kLanes, call = step / quads;
  const unsigned lane = (step - call * quads) * kLanes;
  typename Draw::Number numbers[kLanes][Draw::kCount];
#pragma unroll
  for (unsigned t = 0; t < kLanes; ++t) {
    Draw::draw(functors::philox(fill.seed, fill.first_call + call, lane + t), numbers[t]);
  }
#pragma unroll
  for (unsigned i = 0; i < Draw::kCount; ++i) {
    const unsigned first = lane + fill.threads * (call * Draw::kCount + i);
    if (fill.packed && first + kLanes <= fill.count) {
      constexpr int kPart = kLanes < kPackSize<T> ? kLanes : kPackSize<T>;
#pragma unroll
      for (int part = 0; part < kLanes; part += kPart) {
        Packet<T, kPart> packet;
#pragma unroll
        for (int t = 0; t < kPart; ++t) packet.at[t] = map(numbers[part + t][i]);
        *reinterpret_cast<Packet<T, kPart>*>(out + first + part) = packet;
      }
    } else {
#pragma unroll
      for (unsigned t = 0; t < kLanes; ++t) {
        if (first + t < fill.count) out[first + t] = map(numbers[t][i]);
      }
    }
  }
}

}  // namespace taper::kernels::cuda
