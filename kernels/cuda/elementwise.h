#pragma once

#include <cstring>
#include <type_traits>

#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/device/elementwise.cuh"
#include "taper/kernels/cuda/kernels.h"
#include "taper/kernels/cuda/walk.h"

// From an op's arguments to the launch of its kernel; shared by copy, unary, binary and ternary.

namespace taper::kernels::cuda {

/// The two kernels of an op for a dtype; see device/elementwise.cuh. Null where the op does not
/// take it.
template <int N>
struct FoundKernels {
  using Kernel = void (*)(ElementwiseCall<N>);
  Kernel packets = nullptr;
  int packet = 0;  ///< elements in a packet
  Kernel strided = nullptr;
  int each = 1;  ///< elements that a thread of it takes at a time
};

// The ops by class, that is, by the letters that kernels/ops.h has beside them.
enum class UnaryClass { A, F, P, I };
enum class BinaryClass { A, N, F, C, I };

/// The kernels of an op for elements of T in memory; none unless it belongs to the class. Halves
/// have no strided kernel but that of float. The .cu files named after classes make the instances.
template <UnaryClass kClass, class T>
FoundKernels<1> find_unary(UnaryOp op);
template <BinaryClass kClass, class T>
FoundKernels<2> find_binary(BinaryOp op);

template <class Op, int N, class T>
FoundKernels<N> kernels_of() {
  FoundKernels<N> found;
  found.packets = &elementwise_packets<Op, N, T>;
  found.packet = kPacketSize<Op, N, T>;
  found.each = kStridedEach<Op>;
  if constexpr (std::is_same_v<T, compute_t<T>>) found.strided = &elementwise_strided<Op, N, T>;
  return found;
}

// The types in memory, by dtype.
template <class T>
constexpr ScalarType stored_dtype = dtype_of<T>;
template <>
inline constexpr ScalarType stored_dtype<__half> = kHalf;
template <>
inline constexpr ScalarType stored_dtype<__nv_bfloat16> = kBFloat16;

/// visit(T{}) for the type among `Types` that `dtype` has in memory; nothing for others.
template <class... Types, class Visit>
void for_stored(ScalarType dtype, const Visit& visit) {
  (void)((dtype == stored_dtype<Types> ? (visit(Types{}), true) : false) || ...);
}
template <class Visit>
void for_stored_floating(ScalarType dtype, const Visit& visit) {
  for_stored<float, double, __half, __nv_bfloat16>(dtype, visit);
}
template <class Visit>
void for_stored_integer(ScalarType dtype, const Visit& visit) {
  for_stored<int64_t, int32_t, int16_t, int8_t, uint8_t, bool>(dtype, visit);
}
template <class Visit>
void for_stored_number(ScalarType dtype, const Visit& visit) {
  for_stored<float, double, __half, __nv_bfloat16, int64_t, int32_t, int16_t, int8_t, uint8_t>(
      dtype, visit);
}
template <class Visit>
void for_stored_any(ScalarType dtype, const Visit& visit) {
  for_stored<float, double, __half, __nv_bfloat16, int64_t, int32_t, int16_t, int8_t, uint8_t,
             bool>(dtype, visit);
}

/// A Value as the bits of one element of `dtype`.
inline uint64_t number_bits(ScalarType dtype, const Value& value) {
  uint64_t bits = 0;
  for_stored_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    T number;
    if constexpr (std::is_same_v<T, bool>)
      number = value.d != 0;
    else if constexpr (std::is_integral_v<T>)
      number = static_cast<T>(value.i);
    else
      number = T(static_cast<compute_t<T>>(value.d));
    std::memcpy(&bits, &number, sizeof number);
  });
  return bits;
}

/// Halves are computed in float.
inline ScalarType compute_dtype(ScalarType dtype) {
  return is_reduced_floating_point(dtype) ? kFloat : dtype;
}

/// A grid for `steps` threads of work: enough blocks to fill every multiprocessor twice over, so
/// that none is without work when another is late; threads then go on to further steps.
inline dim3 elementwise_grid(int64_t steps, const Stream& stream) {
  constexpr int64_t kBlocksPerMultiprocessor = 2 * 2048 / kElementwiseBlock;
  const int64_t blocks = (steps - 1) / kElementwiseBlock + 1;
  return dim3(static_cast<unsigned>(std::min(
      blocks, properties_of(stream.device).multi_processor_count * kBlocksPerMultiprocessor)));
}

/// Packets of `packet` elements suit a plan: along the inner dimension each operand is dense and
/// aligned, or one element. `data` and `sizes` (bytes of an element) are by operand; those in
/// `ignored` do not count.
template <int N>
bool packets_fit(const ElementwisePlan<N>& plan, const void* const (&data)[N + 1],
                 const int64_t (&sizes)[N + 1], uint32_t ignored, int64_t packet) {
  if (plan.rank == 0) return false;  // one element: nothing to gain
  if (plan.rank > 1 && plan.sizes[0] % packet != 0) return false;
  for (int k = 0; k <= N; ++k) {
    const int64_t* const strides = plan.strides[k];
    if ((ignored >> k & 1) || (k > 0 && strides[0] == 0)) continue;
    if (strides[0] != 1) return false;
    if (reinterpret_cast<uintptr_t>(data[k]) % static_cast<uintptr_t>(packet * sizes[k]) != 0) {
      return false;
    }
    for (int d = 1; d < plan.rank; ++d) {
      if (strides[d] % packet != 0) return false;
    }
  }
  return true;
}

/// One launch, of a plan that 32-bit offsets reach. `call` has everything but the walk.
template <int N>
Status launch_piece(const FoundKernels<N>& found, const ElementwisePlan<N>& plan,
                    ElementwiseCall<N> call, const int64_t (&sizes)[N + 1], const Stream& stream) {
  const void* data[N + 1] = {call.out};
  std::copy_n(call.in, N, data + 1);
  if (packets_fit<N>(plan, data, sizes, call.is_number << 1, found.packet)) {
    make_walk(call.walk, plan, found.packet);
    call.last = static_cast<int32_t>((plan.sizes[0] - 1) % found.packet + 1);
    for (int k = 0; k < N; ++k) {
      if (plan.strides[k + 1][0] == 0) call.spread |= 1u << k;
    }
    return launch(stream, found.packets, elementwise_grid(call.walk.count, stream),
                  dim3(kElementwiseBlock), 0, call);
  }
  make_walk(call.walk, plan, 1);
  const int64_t steps = (plan.numel - 1) / found.each + 1;
  return launch(stream, found.strided, elementwise_grid(steps, stream), dim3(kElementwiseBlock), 0,
                call);
}

/// The call for a piece that begins `start[k]` elements into operand k.
template <int N>
ElementwiseCall<N> moved(ElementwiseCall<N> call, const int64_t (&start)[N + 1],
                         const int64_t (&sizes)[N + 1]) {
  call.out = static_cast<char*>(call.out) + start[0] * sizes[0];
  for (int k = 0; k < N; ++k) {
    if (call.is_number >> k & 1) continue;
    call.in[k] = static_cast<const char*>(call.in[k]) + start[k + 1] * sizes[k + 1];
  }
  return call;
}

/// `in_dtypes[k]` is the dtype of input k in memory, `compute` the one that the op works in.
template <class Op, int N>
Status run_elementwise(const ElementwiseArgs<Op, N>& args, const FoundKernels<N>& found,
                       const ScalarType (&in_dtypes)[N], ScalarType compute, const Stream& stream) {
  if (!found.packets) return unsupported();
  ElementwiseCall<N> call{};
  call.out = args.out;
  int64_t sizes[N + 1] = {static_cast<int64_t>(element_size(args.out_dtype))};
  ElementwisePlan<N> plan = args.plan;
  for (int k = 0; k < N; ++k) {
    call.in[k] = args.in[k];
    sizes[k + 1] = static_cast<int64_t>(element_size(in_dtypes[k]));
    if (args.scalar_mask >> k & 1) std::fill_n(plan.strides[k + 1], plan.rank, 0);
  }
  call.is_number = args.scalar_mask;
  if (args.scalar_mask) call.number = number_bits(compute, args.scalar);
  call.storage = args.dtype == kHalf       ? Storage::kHalf
                 : args.dtype == kBFloat16 ? Storage::kBFloat16
                                           : Storage::kFull;
  call.real = {args.p[0].d, args.p[1].d, args.p[2].d, args.alpha.d};
  call.whole = {args.p[0].i, args.p[1].i, args.p[2].i, args.alpha.i};
  return for_each_piece<N>(plan, {}, [&](const auto& piece, const auto& start) {
    return launch_piece<N>(found, piece, moved<N>(call, start, sizes), sizes, stream);
  });
}

}  // namespace taper::kernels::cuda
