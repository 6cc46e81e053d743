#include "taper/kernels/cuda/copy.h"

#include <cstdlib>

#include "taper/kernels/cuda/elementwise.h"

// Copies without a change of dtype, by element size, and the choice of the kernel for all:
//   packets     16 bytes a thread, where both sides are dense along the inner dimension
//   transposed  tiles through shared memory, where the sides are dense along different dimensions
//   strided     everything else

namespace taper::kernels::cuda {

namespace {

struct Move {
  template <class P>
  TAPER_INLINE TAPER_HOST_DEVICE P operator()(P x) const {
    return x;
  }
};

template <class T>
struct MoveTile {
  using Element = T;
  static __device__ __forceinline__ T load(const TransposeCall& call, int32_t at) {
    return static_cast<const T*>(call.in)[at];
  }
  static __device__ __forceinline__ void store(const TransposeCall& call, int32_t at, T value) {
    static_cast<T*>(call.out)[at] = value;
  }
};

template <class T>
FoundCopy moves_of() {
  return {kernels_of<Move, 1, T>(), &transpose_tiles<MoveTile<T>>};
}

FoundCopy find_move(int64_t size) {
  switch (size) {
    case 1:
      return moves_of<uint8_t>();
    case 2:
      return moves_of<uint16_t>();
    case 4:
      return moves_of<uint32_t>();
    default:
      return moves_of<uint64_t>();
  }
}

// The dimension along which the input is dense where the output is dense along dimension 0; 0 where
// there is none worth it.
int transposed_dimension(const ElementwisePlan<1>& plan) {
  constexpr int64_t kWorth = 8;
  if (plan.rank < 2 || plan.strides[0][0] != 1 || plan.sizes[0] < kWorth) return 0;
  if (plan.strides[1][0] == 0 || std::abs(plan.strides[1][0]) == 1) return 0;
  for (int d = 1; d < plan.rank; ++d) {
    if (std::abs(plan.strides[1][d]) == 1 && plan.sizes[d] >= kWorth) return d;
  }
  return 0;
}

Status launch_transposed(void (*kernel)(TransposeCall), const ElementwisePlan<1>& plan, int inner,
                         const ElementwiseCall<1>& copy, const Stream& stream) {
  TransposeCall call;
  call.out = copy.out;
  call.in = copy.in[0];
  call.in_dtype = static_cast<int32_t>(copy.whole.p0);
  call.out_dtype = static_cast<int32_t>(copy.whole.p1);
  // The walk goes from tile to tile.
  ElementwisePlan<1> tiles = plan;
  std::swap(tiles.sizes[1], tiles.sizes[inner]);
  for (auto& of_operand : tiles.strides) std::swap(of_operand[1], of_operand[inner]);
  tiles.numel = 1;
  for (int d = 0; d < 2; ++d) {
    call.sizes[d] = static_cast<int32_t>(tiles.sizes[d]);
    for (int k = 0; k < 2; ++k) {
      call.strides[k][d] = static_cast<int32_t>(tiles.strides[k][d]);
      tiles.strides[k][d] *= kTransposeTile;
    }
    tiles.sizes[d] = (tiles.sizes[d] - 1) / kTransposeTile + 1;
  }
  for (int d = 0; d < tiles.rank; ++d) tiles.numel *= tiles.sizes[d];
  make_walk(call.tiles, tiles, 1);
  return launch(stream, kernel, dim3(call.tiles.count), dim3(kTransposeTile, kTransposeRows), 0,
                call);
}

}  // namespace

Status copy(const CopyArgs& args, Stream stream) {
  const int64_t sizes[] = {static_cast<int64_t>(element_size(args.out_dtype)),
                           static_cast<int64_t>(element_size(args.in_dtype))};
  const FoundCopy found = args.out_dtype == args.in_dtype
                              ? find_move(sizes[0])
                              : find_cast(args.out_dtype, args.in_dtype);
  if (!found.elementwise.packets) return unsupported();
  ElementwiseCall<1> call{};
  call.out = args.out;
  call.in[0] = args.in;
  call.whole.p0 = static_cast<int64_t>(args.in_dtype);
  call.whole.p1 = static_cast<int64_t>(args.out_dtype);
  return for_each_piece<1>(args.plan, {}, [&](const auto& piece, const auto& start) {
    const ElementwiseCall<1> here = moved<1>(call, start, sizes);
    if (const int inner = transposed_dimension(piece)) {
      return launch_transposed(found.transposed, piece, inner, here, stream);
    }
    return launch_piece<1>(found.elementwise, piece, here, sizes, stream);
  });
}

}  // namespace taper::kernels::cuda
