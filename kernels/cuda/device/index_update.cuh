#pragma once

#include <type_traits>

#include "taper/kernels/cuda/device/index.cuh"
#include "taper/kernels/cuda/device/packet.cuh"
#include "taper/kernels/cuda/device/walk.cuh"

// Writing at places that index tensors give, where several updates may meet. They are combined in
// the order of their positions, so that results are the same in each run.
//   update_columns   a thread goes along the positions that can meet, which are few
//   update_groups    updates have been sorted by target: a thread combines those of one

namespace taper::kernels::cuda {

constexpr int kUpdateBlock = 256;  // eight warps, most of which wait for memory
constexpr int kGroupBlocks = 3;    // of update_groups: four packets of a thread are under way

/// As ScatterOp of kernels/ops.h.
enum class Combine : int32_t { kAssign, kAdd, kMul, kMax, kMin };

/// What is done with an element of self. Adding adds alpha * value.
struct Update {
  Combine op;
  void* self;
  const void* values;  ///< null: `number`
  uint64_t number;     ///< the bits of an element
  double alpha_real;
  int64_t alpha_whole;
};

/// Positions without those that can meet, of which there are `length`, `*_step` apart.
struct ColumnsCall {
  Update update;
  DimIndex at;
  Walk<2> columns;  ///< values, index, self
  int32_t length, value_step, index_step;
};

struct GroupsCall {
  Update update;
  const uint64_t* targets;  ///< sorted; in units of `unit` elements of self
  const int32_t* sources;   ///< offsets in values, in the order of positions among equal targets
  uint32_t count;
  uint64_t nowhere;  ///< this target is none
  int64_t unit;
  Walk<1> free;  ///< for each update: self, values, in packets
};

#if TAPER_DEVICE_CODE

/// Integers wrap; NaN wins in max and min; bool: or, and.
template <class C>
__device__ __forceinline__ C combine(Combine op, C value, C update) {
  if constexpr (std::is_same_v<C, bool>) {
    if (op == Combine::kAssign) return update;
    return op == Combine::kAdd || op == Combine::kMax ? value || update : value && update;
  } else {
    using W = std::conditional_t<std::is_integral_v<C>, uint64_t, C>;
    switch (op) {
      case Combine::kAssign:
        return update;
      case Combine::kAdd:
        return static_cast<C>(static_cast<W>(value) + static_cast<W>(update));
      case Combine::kMul:
        return static_cast<C>(static_cast<W>(value) * static_cast<W>(update));
      case Combine::kMax:
        return value > update || value != value ? value : update;
      case Combine::kMin:
        return value < update || value != value ? value : update;
    }
    return value;
  }
}

/// alpha * value where the op adds, else the value. An alpha of 1 changes nothing.
template <class C>
__device__ __forceinline__ C scaled(const Update& update, C value) {
  if (update.op != Combine::kAdd) return value;
  if constexpr (std::is_integral_v<C>)
    return combine<C>(Combine::kMul, value, static_cast<C>(update.alpha_whole));
  else
    return value * static_cast<C>(update.alpha_real);
}

template <class T>
__device__ __forceinline__ T number_of(const Update& update) {
  T number;
  memcpy(static_cast<void*>(&number), &update.number, sizeof number);
  return number;
}

template <class T>
__global__ void __launch_bounds__(kUpdateBlock)
    update_columns(const __grid_constant__ ColumnsCall call) {
  using C = compute_t<T>;
  const Update& update = call.update;
  const T number = number_of<T>(update);
  for (uint32_t i = blockIdx.x * kUpdateBlock + threadIdx.x; i < call.columns.count;
       i += gridDim.x * kUpdateBlock) {
    int32_t offset[3];
    call.columns.offsets(i, offset);
    T* const self = static_cast<T*>(update.self) + offset[2];
    for (int j = 0; j < call.length; ++j) {
      const int64_t along = call.at.offset(offset[1] + j * call.index_step);
      if (along == kNowhere) continue;
      const T value = update.values
                          ? static_cast<const T*>(update.values)[offset[0] + j * call.value_step]
                          : number;
      if (update.op == Combine::kAssign) {
        self[along] = value;
      } else {
        self[along] =
            narrow<T>(combine<C>(update.op, widen(self[along]), scaled<C>(update, widen(value))));
      }
    }
  }
}

/// The end of the run of equal keys that begins at `first`. Most are short: steps double until one
/// goes too far.
__device__ __forceinline__ uint32_t end_of_group(const uint64_t* keys, uint32_t first,
                                                 uint32_t count) {
  const uint64_t key = keys[first];
  uint32_t low = first, step = 1;  // keys[low] is equal
  while (count - low > step && keys[low + step] == key) {
    low += step;
    step *= 2;
  }
  uint32_t high = count - low > step ? low + step : count;  // keys[high] is not, or the end
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (keys[middle] == key)
      low = middle;
    else
      high = middle;
  }
  return high;
}

/// Threads (x, y) of a block: y takes updates, of which the first of a group does the work; x takes
/// packets of its elements. No two groups have a target in common.
template <class T, int kPacket>
__global__ void __launch_bounds__(kUpdateBlock, kGroupBlocks)
    update_groups(const __grid_constant__ GroupsCall call) {
  using C = compute_t<T>;
  using P = Packet<T, kPacket>;
  const Update& update = call.update;
  const bool assigns = update.op == Combine::kAssign;
  for (uint32_t u = blockIdx.x * blockDim.y + threadIdx.y; u < call.count;
       u += gridDim.x * blockDim.y) {
    const uint64_t target = call.targets[u];
    if (target == call.nowhere || (u > 0 && call.targets[u - 1] == target)) continue;
    const uint32_t end = end_of_group(call.targets, u, call.count);
    const uint32_t begin = assigns ? end - 1 : u;  // the last one stays
    for (uint32_t f = blockIdx.y * blockDim.x + threadIdx.x; f < call.free.count;
         f += gridDim.y * blockDim.x) {
      int32_t offset[2];
      call.free.offsets(f, offset);
      P* const self = reinterpret_cast<P*>(static_cast<T*>(update.self) +
                                           static_cast<int64_t>(target) * call.unit + offset[0]);
      const T* const values = static_cast<const T*>(update.values) + offset[1];
      P result;
      if (assigns) {
        if (update.values) {
          result = *reinterpret_cast<const P*>(values + call.sources[begin]);
        } else {
#pragma unroll
          for (int k = 0; k < kPacket; ++k) result.at[k] = number_of<T>(update);
        }
      } else {
        result = *self;
        C sum[kPacket];
#pragma unroll
        for (int k = 0; k < kPacket; ++k) sum[k] = widen(result.at[k]);
          // Loads do not wait for the sums: several updates are under way.
#pragma unroll 4
        for (uint32_t m = begin; m < end; ++m) {
          P value;
          if (update.values) {
            value = *reinterpret_cast<const P*>(values + call.sources[m]);
          } else {
#pragma unroll
            for (int k = 0; k < kPacket; ++k) value.at[k] = number_of<T>(update);
          }
#pragma unroll
          for (int k = 0; k < kPacket; ++k) {
            sum[k] = combine<C>(update.op, sum[k], scaled<C>(update, widen(value.at[k])));
          }
        }
#pragma unroll
        for (int k = 0; k < kPacket; ++k) result.at[k] = narrow<T>(sum[k]);
      }
      *self = result;
    }
  }
}

#endif

}  // namespace taper::kernels::cuda
