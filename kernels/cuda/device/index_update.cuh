#pragma once

#include <type_traits>

#include "taper/kernels/cuda/device/index.cuh"
#include "taper/kernels/cuda/device/packet.cuh"
#include "taper/kernels/cuda/device/walk.cuh"

// Writing at places that index tensors give, where several updates may meet. They are combined in
// the order of their positions, or, where they are very many, in a fixed tree: results are the same
// in each run.
//   update_columns   a thread goes along the positions that can meet, which are few
//   update_groups    updates have been sorted by target: a thread combines those of one
//   update_long      of a target with very many, which update_groups leaves: a block combines them

namespace taper::kernels::cuda {

constexpr int kUpdateBlock = 256;  // eight warps, most of which wait for memory
constexpr int kGroupBlocks = 3;    // of update_groups: four packets of a thread are under way
/// A longer group keeps one thread busy while the card waits. No fewer than a block has threads.
constexpr uint32_t kLongGroup = 256;
static_assert(kLongGroup >= kUpdateBlock);

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

/// Groups that update_groups found too long, in any order; null where there can be none.
struct LongGroups {
  uint32_t* count;
  uint2* ranges;  ///< begin and end among the updates
};

struct GroupsCall {
  Update update;
  const uint64_t* targets;  ///< sorted; in units of `unit` elements of self
  const int32_t* sources;   ///< offsets in values, in the order of positions among equal targets
  uint32_t count;
  uint64_t nowhere;  ///< this target is none
  int64_t unit;
  Walk<1> free;  ///< for each update: self, values, in packets
  LongGroups long_groups;
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

/// The packet at `offset` of the element of self that an update is for.
template <class T, int kPacket>
__device__ __forceinline__ Packet<T, kPacket>* target_of(const GroupsCall& call, uint32_t update,
                                                         int32_t offset) {
  const int64_t element = static_cast<int64_t>(call.targets[update]) * call.unit + offset;
  return reinterpret_cast<Packet<T, kPacket>*>(static_cast<T*>(call.update.self) + element);
}

/// The packet at `offset` of what an update brings.
template <class T, int kPacket>
__device__ __forceinline__ void load_update(const GroupsCall& call, uint32_t update, int32_t offset,
                                            compute_t<T> (&to)[kPacket]) {
  using P = Packet<T, kPacket>;
  P value;
  if (call.update.values) {
    const T* const values = static_cast<const T*>(call.update.values) + offset;
    value = *reinterpret_cast<const P*>(values + call.sources[update]);
  } else {
#pragma unroll
    for (int k = 0; k < kPacket; ++k) value.at[k] = number_of<T>(call.update);
  }
#pragma unroll
  for (int k = 0; k < kPacket; ++k) {
    to[k] = scaled<compute_t<T>>(call.update, widen(value.at[k]));
  }
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
    if (call.long_groups.count && end - u > kLongGroup) {
      if (threadIdx.x == 0 && blockIdx.y == 0) {
        call.long_groups.ranges[atomicAdd(call.long_groups.count, 1u)] = make_uint2(u, end);
      }
      continue;
    }
    const uint32_t begin = assigns ? end - 1 : u;  // the last one stays
    for (uint32_t f = blockIdx.y * blockDim.x + threadIdx.x; f < call.free.count;
         f += gridDim.y * blockDim.x) {
      int32_t offset[2];
      call.free.offsets(f, offset);
      P* const self = target_of<T, kPacket>(call, u, offset[0]);
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
          C value[kPacket];
          load_update<T, kPacket>(call, m, offset[1], value);
#pragma unroll
          for (int k = 0; k < kPacket; ++k) sum[k] = combine<C>(update.op, sum[k], value[k]);
        }
#pragma unroll
        for (int k = 0; k < kPacket; ++k) result.at[k] = narrow<T>(sum[k]);
      }
      *self = result;
    }
  }
}

/// A block takes a group and a stretch of free elements: each y its share of the updates, whose
/// results are then combined in pairs.
template <class T, int kPacket>
__global__ void __launch_bounds__(kUpdateBlock, kGroupBlocks)
    update_long(const __grid_constant__ GroupsCall call) {
  using C = compute_t<T>;
  using P = Packet<T, kPacket>;
  struct Partial {
    C at[kPacket];
  };
  TAPER_SHARED(Partial, partial, [kUpdateBlock]);
  const Update& update = call.update;
  const uint32_t groups = *call.long_groups.count;
  const uint32_t mine = threadIdx.y * blockDim.x + threadIdx.x;
  for (uint32_t g = blockIdx.x; g < groups; g += gridDim.x) {
    const uint2 range = call.long_groups.ranges[g];
    for (uint32_t first = blockIdx.y * blockDim.x; first < call.free.count;
         first += gridDim.y * blockDim.x) {
      const uint32_t f = first + threadIdx.x;
      const bool is_free = f < call.free.count;
      int32_t offset[2] = {0, 0};
      if (is_free) {
        call.free.offsets(f, offset);
        C sum[kPacket];
        load_update<T, kPacket>(call, range.x + threadIdx.y, offset[1], sum);
        if (threadIdx.y == 0) {  // self comes first, as for those of a single thread
          const P before = *target_of<T, kPacket>(call, range.x, offset[0]);
#pragma unroll
          for (int k = 0; k < kPacket; ++k) {
            sum[k] = combine<C>(update.op, widen(before.at[k]), sum[k]);
          }
        }
#pragma unroll 4
        for (uint32_t m = range.x + threadIdx.y + blockDim.y; m < range.y; m += blockDim.y) {
          C value[kPacket];
          load_update<T, kPacket>(call, m, offset[1], value);
#pragma unroll
          for (int k = 0; k < kPacket; ++k) sum[k] = combine<C>(update.op, sum[k], value[k]);
        }
#pragma unroll
        for (int k = 0; k < kPacket; ++k) partial[mine].at[k] = sum[k];
      }
      for (uint32_t half = blockDim.y / 2; half > 0; half /= 2) {
        __syncthreads();  // the results of twice as many are there
        if (!is_free || threadIdx.y >= half) continue;
        const Partial& other = partial[mine + half * blockDim.x];
#pragma unroll
        for (int k = 0; k < kPacket; ++k) {
          partial[mine].at[k] = combine<C>(update.op, partial[mine].at[k], other.at[k]);
        }
      }
      if (is_free && threadIdx.y == 0) {
        P result;
#pragma unroll
        for (int k = 0; k < kPacket; ++k) result.at[k] = narrow<T>(partial[mine].at[k]);
        *target_of<T, kPacket>(call, range.x, offset[0]) = result;
      }
      __syncthreads();  // the next stretch writes there
    }
  }
}

#endif

}  // namespace taper::kernels::cuda
