#pragma once

#include "taper/kernels/cuda/device/random_fill.cuh"
#include "taper/kernels/cuda/random.h"

namespace taper::kernels::cuda {

/// x as it is once stored as a T.
template <class T>
compute_t<T> stored(double x) {
  if constexpr (std::is_same_v<T, __half>) {
    return Half(static_cast<float>(x));
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return BFloat16(static_cast<float>(x));
  } else {
    return static_cast<T>(x);
  }
}

/// The unsigned integer that stands for a dtype of integers or bool.
template <class Visit>
Status for_size(ScalarType dtype, const Visit& visit) {
  switch (element_size(dtype)) {
    case 1:
      return visit(uint8_t());
    case 2:
      return visit(uint16_t());
    case 4:
      return visit(uint32_t());
    case 8:
      return visit(uint64_t());
    default:
      return unsupported();
  }
}

/// out[i] = map(the number that PyTorch draws for element i).
template <class Draw, class T, class Map>
Status fill_random(T* out, int64_t count, CudaRngState& state, const Map& map,
                   const Stream& stream) {
  constexpr size_t kAlignment = std::min<size_t>(16, kLanes * sizeof(T));
  return for_draw_pieces(
      state, 0, count, sizeof(T), Draw::kCount, properties_of(stream.device),
      [&](int64_t first, int64_t size, const DrawPlan& plan, uint64_t first_call) {
        const RandomFill fill{.seed = state.seed,
                              .first_call = first_call,
                              .count = static_cast<unsigned>(size),
                              .threads = plan.threads,
                              .steps = static_cast<unsigned>(plan.threads / kLanes * plan.calls),
                              .packed = aligned_to(kAlignment, out + first)};
        return launch(stream, random_fill<Draw, T, Map>, ceil_div(fill.steps, kRandomBlock),
                      kRandomBlock, 0, out + first, fill, map);
      });
}
template <class Draw, class T, class Map>
Status fill_random(const RandomArgs& args, const Map& map, const Stream& stream) {
  return fill_random<Draw>(static_cast<T*>(args.out), args.numel,
                           *static_cast<CudaRngState*>(args.generator), map, stream);
}

}  // namespace taper::kernels::cuda
