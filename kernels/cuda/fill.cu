#include <algorithm>
#include <type_traits>

#include "taper/kernels/cuda/elementwise.h"
#include "taper/kernels/element_size.h"

// Tensors made of nothing, or of a mask: fill, range, triangle. Each kernel takes packets of 16
// bytes where the tensor is aligned, else (kSize = 1) single elements.

namespace taper::kernels::cuda {

namespace {

template <class T>
constexpr int kFull = 16 / static_cast<int>(sizeof(T));

bool aligned(const void* memory) { return reinterpret_cast<uintptr_t>(memory) % 16 == 0; }

// ---- fill ---------------------------------------------------------------------------------------

template <class E, int kSize>
__global__ void __launch_bounds__(kElementwiseBlock)
    fill_packets(E* out, E value, int32_t last, const __grid_constant__ Walk<0> walk) {
  Packet<E, kSize> packet;
#pragma unroll
  for (int j = 0; j < kSize; ++j) packet.at[j] = value;
  for (uint32_t i = blockIdx.x * kElementwiseBlock + threadIdx.x; i < walk.count;
       i += gridDim.x * kElementwiseBlock) {
    int32_t offset[1];
    walk.offsets(i, offset);
    store_packet(out + offset[0], packet, i + 1 == walk.count ? last : kSize);
  }
}

template <class E, int kSize>
Status launch_fill(E* out, E value, const ElementwisePlan<0>& plan, const Stream& stream) {
  Walk<0> walk;
  make_walk(walk, plan, kSize);
  const int64_t inner = plan.rank == 0 ? 1 : plan.sizes[0];
  return launch(stream, fill_packets<E, kSize>, elementwise_grid(walk.count, stream),
                dim3(kElementwiseBlock), 0, out, value, (inner - 1) % kSize + 1, walk);
}

// ---- range --------------------------------------------------------------------------------------

// Not contracted to a fused multiply-add, so that every device has the same numbers.
__device__ __forceinline__ double line(double from, double step, double at) {
  return __dadd_rn(from, __dmul_rn(step, at));
}

struct RangeCall {
  int64_t count;
  Value start, step, end;
  bool symmetric;
};

template <class T>
__device__ __forceinline__ T range_element(const RangeCall& call, int64_t i) {
  if constexpr (std::is_integral_v<T>) {
    // Whole steps wrap; linspace among integers has fractional ones.
    if (!call.symmetric) {
      return static_cast<T>(static_cast<uint64_t>(call.start.i) +
                            static_cast<uint64_t>(i) * static_cast<uint64_t>(call.step.i));
    }
  }
  const bool from_end = call.symmetric && i >= call.count / 2;
  const double value = from_end
                           ? line(call.end.d, -call.step.d, static_cast<double>(call.count - 1 - i))
                           : line(call.start.d, call.step.d, static_cast<double>(i));
  if constexpr (std::is_same_v<T, bool>)
    return value != 0;
  else
    return narrow<T>(static_cast<compute_t<T>>(value));
}

// Elements first to first + count of the range.
template <class T, int kSize>
__global__ void __launch_bounds__(kElementwiseBlock)
    range_packets(T* out, int64_t first, uint32_t count, const __grid_constant__ RangeCall call) {
  const uint32_t packets = (count - 1) / kSize + 1;
  for (uint32_t i = blockIdx.x * kElementwiseBlock + threadIdx.x; i < packets;
       i += gridDim.x * kElementwiseBlock) {
    const uint32_t begin = i * kSize;
    Packet<T, kSize> packet;
#pragma unroll
    for (int j = 0; j < kSize; ++j) packet.at[j] = range_element<T>(call, first + begin + j);
    store_packet(out + begin, packet, static_cast<int>(::min(count - begin, uint32_t{kSize})));
  }
}

// ---- triangle -----------------------------------------------------------------------------------

struct TriangleCall {
  void* out;
  const void* in;
  uint32_t count;  ///< elements in all
  Divider rows, columns;
  int32_t diagonal;
  bool lower;
};

// A packet may go over the end of a row, or of several.
template <class E, int kSize>
__global__ void __launch_bounds__(kElementwiseBlock)
    triangle_packets(const __grid_constant__ TriangleCall call) {
  const uint32_t packets = (call.count - 1) / kSize + 1;
  for (uint32_t i = blockIdx.x * kElementwiseBlock + threadIdx.x; i < packets;
       i += gridDim.x * kElementwiseBlock) {
    const uint32_t begin = i * kSize;
    const int count = static_cast<int>(::min(call.count - begin, uint32_t{kSize}));
    Packet<E, kSize> packet{};
    load_packet(packet, static_cast<const E*>(call.in) + begin, count);
    const uint32_t row = call.columns.quotient(begin);
    auto c = static_cast<int32_t>(begin - row * call.columns.divisor);
    auto r = static_cast<int32_t>(row - call.rows.quotient(row) * call.rows.divisor);
#pragma unroll
    for (int j = 0; j < kSize; ++j) {
      const bool below = c - r <= call.diagonal, above = c - r >= call.diagonal;
      if (!(call.lower ? below : above)) packet.at[j] = 0;
      if (++c == static_cast<int32_t>(call.columns.divisor)) {
        c = 0;
        if (++r == static_cast<int32_t>(call.rows.divisor)) r = 0;
      }
    }
    store_packet(static_cast<E*>(call.out) + begin, packet, count);
  }
}

template <class E>
Status launch_triangle(E* out, const E* in, const Triangles& part, bool lower,
                       const Stream& stream) {
  const int64_t count = part.numel();
  const TriangleCall call{out,
                          in,
                          static_cast<uint32_t>(count),
                          Divider(static_cast<uint32_t>(part.rows)),
                          Divider(static_cast<uint32_t>(part.cols)),
                          static_cast<int32_t>(std::clamp(part.diagonal, -part.rows, part.cols)),
                          lower};
  const auto run = [&](auto kernel, int64_t size) {
    return launch(stream, kernel, elementwise_grid((count - 1) / size + 1, stream),
                  dim3(kElementwiseBlock), 0, call);
  };
  return aligned(out) && aligned(in) ? run(triangle_packets<E, kFull<E>>, kFull<E>)
                                     : run(triangle_packets<E, 1>, 1);
}

}  // namespace

Status fill(const FillArgs& args, Stream stream) {
  const uint64_t bits = number_bits(args.dtype, args.value);
  return for_element_size(args.dtype, [&](auto zero) {
    using E = decltype(zero);
    return for_each_piece<0>(args.plan, {}, [&](const auto& piece, const auto& start) {
      E* const out = static_cast<E*>(args.out) + start[0];
      const auto value = static_cast<E>(bits);
      if (packets_fit<0>(piece, {out}, {sizeof(E)}, 0, kFull<E>)) {
        return launch_fill<E, kFull<E>>(out, value, piece, stream);
      }
      return launch_fill<E, 1>(out, value, piece, stream);
    });
  });
}

Status range(void* out, ScalarType dtype, int64_t count, Value start, Value step, Value end,
             bool symmetric, Stream stream) {
  const RangeCall call{count, start, step, end, symmetric};
  Status status = unsupported();
  for_stored_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    status = {};
    for (int64_t first = 0; first < count && status.ok(); first += int64_t{1} << 30) {
      T* const to = static_cast<T*>(out) + first;
      const auto part = static_cast<uint32_t>(std::min(count - first, int64_t{1} << 30));
      const auto run = [&](auto kernel, int64_t size) {
        return launch(stream, kernel, elementwise_grid((part - 1) / size + 1, stream),
                      dim3(kElementwiseBlock), 0, to, first, part, call);
      };
      status =
          aligned(to) ? run(range_packets<T, kFull<T>>, kFull<T>) : run(range_packets<T, 1>, 1);
    }
  });
  return status;
}

Status triangle(void* out, const void* in, ScalarType dtype, int64_t batch, int64_t rows,
                int64_t cols, int64_t diagonal, bool lower, Stream stream) {
  const Triangles all{batch, rows, cols, diagonal};
  if (all.numel() == 0) return {};
  return for_element_size(dtype, [&](auto zero) {
    using E = decltype(zero);
    return for_each_piece(all, 0, [&](const Triangles& part, int64_t start) {
      return launch_triangle(static_cast<E*>(out) + start, static_cast<const E*>(in) + start, part,
                             lower, stream);
    });
  });
}

}  // namespace taper::kernels::cuda
