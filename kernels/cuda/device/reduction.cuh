#pragma once

#include "taper/kernels/cuda/device/packet.cuh"
#include "taper/kernels/cuda/device/reduce.cuh"
#include "taper/kernels/cuda/device/walk.cuh"

// The kernels of everything that makes one result of many elements: sums and norms, mean and
// variance, positions of extremes.
//
//   reduce_rows     reduced elements lie closer together than results do: a result belongs to some
//                   lanes of a warp or to a block, which walk along it
//   reduce_columns  results lie closer together: neighbouring threads have neighbouring results
//   fold_partials   the second pass, where results alone would be too few to fill the device: the
//                   first has cut the reduced elements into chunks
//
// An Op has
//   In, A           what is read, and what a partial result is; A is a number or a plain struct
//   Fold            of two A; the shape of the tree is fixed, so that results are the same each
//   time identity()      the A of no element at all State           what a thread gathers for one
//   result: add() some elements, then total() store()         finishes a result and writes it

namespace taper::kernels::cuda {

/// Eight warps: enough for a block to hide its own latencies, few enough for short rows.
constexpr int kReduceBlockLog = 8;
constexpr int kReduceBlock = 1 << kReduceBlockLog;
/// Blocks on a multiprocessor: 128 registers hold 64 bytes under way and the accumulators, 80 do
/// not on sm_100; two blocks have 32 KiB under way.
constexpr int kReduceBlocks = 2;

/// A position in a strided shape, and its offsets in N operands. Positions have 32 bits.
template <int N>
struct Places {
  int32_t rank;  ///< at least 1; innermost dimension first
  Divider sizes[kMaxWalkRank];
  int64_t strides[N][kMaxWalkRank];

  __device__ __forceinline__ void offsets(uint32_t i, int64_t (&offset)[N]) const {
#pragma unroll
    for (int k = 0; k < N; ++k) offset[k] = 0;
#pragma unroll 1
    for (int d = 0; d + 1 < rank; ++d) {
      const uint32_t quotient = sizes[d].quotient(i);
      const uint32_t at = i - quotient * sizes[d].divisor;
#pragma unroll
      for (int k = 0; k < N; ++k) offset[k] += at * strides[k][d];
      i = quotient;
    }
#pragma unroll
    for (int k = 0; k < N; ++k) offset[k] += i * strides[k][rank - 1];
  }
};

struct ReduceCall {
  const void* in;
  void* out[2];       ///< the second for ops that have two results
  int64_t out_start;  ///< element of the outputs that the first result goes to
  void* partials;     ///< A[results][all_chunks]; null where one pass does it all

  // What an op may read.
  int64_t count;     ///< reduced elements of a result
  int64_t position;  ///< of the first of them in this launch
  double p;
  uint64_t mask;
  int32_t ending;

  // Steps are elements along the reduced dimensions, or packets of them; `rest` elements follow the
  // last whole packet.
  bool packed;  ///< rows: packets of reduced elements; columns: packets of results
  uint32_t steps, rest;
  uint32_t chunk;  ///< steps of a chunk
  Divider chunks;
  uint32_t first_chunk, all_chunks;
  uint32_t group_log;  ///< rows: log2 of the threads of a result; columns: of those side by side
  uint32_t results;
  uint32_t width;  ///< columns: neighbouring results
  Divider tiles;   ///< columns: blocks side by side to have them all
  Places<2> kept;  ///< offsets in the input, in the outputs
  Places<1> reduced;
};

/// Elements loaded before the first is used: each thread keeps 64 bytes under way.
template <class T>
constexpr int kReduceUnroll = sizeof(T) == 1 ? 2 : 4;

template <class T>
constexpr int kRowWidth = 16 / static_cast<int>(sizeof(T));

/// Results of a thread in reduce_columns: 16 bytes of input, but at most 64 of what they become,
/// which is what shared memory holds for each thread.
template <class Op>
constexpr int kColumnWidth = [] {
  int width = kRowWidth<typename Op::In>;
  while (width > 1 && width * static_cast<int>(sizeof(typename Op::A)) > 64) width /= 2;
  return width;
}();

/// A partial result goes to the second pass, or is all there is.
template <class Op>
__device__ __forceinline__ void finish_chunk(const ReduceCall& call, uint32_t result,
                                             uint32_t chunk, int64_t out_offset,
                                             typename Op::A value) {
  if (call.partials) {
    const int64_t at = int64_t{result} * call.all_chunks + call.first_chunk + chunk;
    static_cast<typename Op::A*>(call.partials)[at] = value;
  } else {
    Op::store(call, call.out_start + out_offset, value);
  }
}

/// Accumulators of a thread in reduce_rows, which share out the elements of a packet: several hide
/// the latency of an addition, but integers of a byte would take 32 registers for one each.
template <class Op>
constexpr int kRowStates = [] {
  int states = kRowWidth<typename Op::In>;
  while (states > 1 && states * static_cast<int>(sizeof(typename Op::A)) > 32) states /= 2;
  return states;
}();

/// Adds the elements of `count` packets, element j to states[j % kStates]. Packets are `stride`
/// positions apart, their elements `step`.
template <class T, class State, int kStates, int kWidth, int kUnroll>
__device__ __forceinline__ void add_packets(State (&states)[kStates],
                                            const Packet<T, kWidth> (&packets)[kUnroll], int count,
                                            uint32_t position, uint32_t stride, uint32_t step,
                                            const ReduceCall& call) {
  constexpr int kPer = kWidth / kStates;
#pragma unroll
  for (int s = 0; s < kStates; ++s) {
    compute_t<T> x[kUnroll * kPer];
#pragma unroll
    for (int i = 0; i < kUnroll * kPer; ++i) {
      x[i] = widen(packets[i / kPer].at[i % kPer * kStates + s]);
    }
    states[s].template add<kPer>(x, count * kPer, position + s * step, stride, step * kStates,
                                 call);
  }
}

template <class Op>
__global__ void __launch_bounds__(kReduceBlock, kReduceBlocks)
    reduce_rows(const __grid_constant__ ReduceCall call) {
  using T = typename Op::In;
  using A = typename Op::A;
  constexpr int kWidth = kRowWidth<T>;
  constexpr int kUnroll = kReduceUnroll<T>;
  const uint32_t log = call.group_log, group = 1u << log;
  const uint32_t lane = threadIdx.x & (group - 1);
  const uint32_t unit = (blockIdx.x << (kReduceBlockLog - log)) + (threadIdx.x >> log);
  const uint32_t result = call.chunks.quotient(unit);
  const uint32_t chunk = unit - result * call.chunks.divisor;

  constexpr int kStates = kRowStates<Op>;
  typename Op::State states[kStates];
  int64_t offset[2] = {};
  if (result < call.results) {
    call.kept.offsets(result, offset);
    const T* const in = static_cast<const T*>(call.in) + offset[0];
    const uint32_t begin = chunk * call.chunk;
    const uint32_t end = min(begin + call.chunk, call.steps);
    for (uint32_t i = begin + lane; i < end; i += kUnroll << log) {
      const int count = static_cast<int>(min((end - i + group - 1) >> log, unsigned{kUnroll}));
      // All loads are under way before the first is used.
      if (call.packed) {
        Packet<T, kWidth> packets[kUnroll] = {};
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          if (u >= count) continue;
          int64_t at[1];
          call.reduced.offsets(i + (u << log), at);
          packets[u] = *reinterpret_cast<const Packet<T, kWidth>*>(in + at[0]);
        }
        add_packets<T>(states, packets, count, i * kWidth, kWidth << log, 1, call);
      } else {
        T elements[kUnroll] = {};
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          if (u >= count) continue;
          int64_t at[1];
          call.reduced.offsets(i + (u << log), at);
          elements[u] = in[at[0]];
        }
        compute_t<T> x[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) x[u] = widen(elements[u]);
        states[0].template add<1>(x, count, i, group, 0, call);
      }
    }
    if (call.rest != 0 && chunk + 1 == call.chunks.divisor) {
      const uint32_t whole = call.steps * kWidth;
      for (uint32_t i = whole + lane; i < whole + call.rest; i += group) {
        const compute_t<T> x[1] = {widen(in[i])};
        states[0].template add<1>(x, 1, i, 0, 0, call);
      }
    }
  }

  const typename Op::Fold fold;
  A value = states[0].total(call);
#pragma unroll
  for (int s = 1; s < kStates; ++s) value = fold(value, states[s].total(call));
  if (group <= kWarpSize) {
    for (uint32_t bits = 1; bits < group; bits *= 2) value = fold_lanes(value, bits, fold);
  } else {
    value = block_reduce<kReduceBlock>(value, fold);
  }
  if (lane == 0 && result < call.results) {
    finish_chunk<Op>(call, result, chunk, offset[1], value);
  }
}

template <class Op>
__global__ void __launch_bounds__(kReduceBlock, kReduceBlocks)
    reduce_columns(const __grid_constant__ ReduceCall call) {
  using T = typename Op::In;
  using A = typename Op::A;
  constexpr int kWidth = kColumnWidth<Op>;
  constexpr int kUnroll = kReduceUnroll<T>;
  const uint32_t log = call.group_log, lanes = 1u << log, tile_width = lanes * kWidth;
  const uint32_t x = threadIdx.x & (lanes - 1), y = threadIdx.x >> log;
  const uint32_t ys = kReduceBlock >> log;

  const uint32_t place = call.chunks.quotient(blockIdx.x);
  const uint32_t chunk = blockIdx.x - place * call.chunks.divisor;
  const uint32_t outer = call.tiles.quotient(place);
  const uint32_t first = (place - outer * call.tiles.divisor) * tile_width;
  const uint32_t columns = min(tile_width, call.width - first);
  int64_t offset[2];
  call.kept.offsets(outer * call.width, offset);
  const int64_t in_stride = call.kept.strides[0][0], out_stride = call.kept.strides[1][0];
  const T* const in = static_cast<const T*>(call.in) + offset[0] + first * in_stride;

  // Without packets, neighbouring threads still have neighbouring columns.
  const uint32_t column = call.packed ? x * kWidth : x, apart = call.packed ? 1 : lanes;
  typename Op::State states[kWidth];
  const uint32_t begin = chunk * call.chunk;
  const uint32_t end = min(begin + call.chunk, call.steps);
  for (uint32_t row = begin + y; row < end; row += kUnroll * ys) {
    const int count =
        static_cast<int>(min((end - row + ys - 1) >> (kReduceBlockLog - log), unsigned{kUnroll}));
    Packet<T, kWidth> packets[kUnroll] = {};
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (u >= count) continue;
      int64_t at[1];
      call.reduced.offsets(row + u * ys, at);
      const T* const from = in + at[0];
      if (call.packed) {
        if (column < columns) {
          packets[u] = *reinterpret_cast<const Packet<T, kWidth>*>(from + column);
        }
      } else {
#pragma unroll
        for (int j = 0; j < kWidth; ++j) {
          const uint32_t c = column + j * apart;
          if (c < columns) packets[u].at[j] = from[c * in_stride];
        }
      }
    }
    add_packets<T>(states, packets, count, row, ys, 0, call);
  }

  // First over the lanes of a warp that have the same columns, then over warps.
  const typename Op::Fold fold;
  A values[kWidth];
#pragma unroll
  for (int j = 0; j < kWidth; ++j) values[j] = states[j].total(call);
  for (uint32_t bits = lanes; bits < kWarpSize; bits *= 2) {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) values[j] = fold_lanes(values[j], bits, fold);
  }
  TAPER_SHARED(A, of_groups, [kReduceBlock * kWidth]);
  const uint32_t groups = min(ys, unsigned{kReduceBlock / kWarpSize});
  const uint32_t group = lanes < kWarpSize ? threadIdx.x / kWarpSize : y;
  if (threadIdx.x % kWarpSize < lanes) {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      of_groups[group * tile_width + column + j * apart] = values[j];
    }
  }
  __syncthreads();  // every group's columns are there
  for (uint32_t c = threadIdx.x; c < columns; c += kReduceBlock) {
    A value = of_groups[c];
    for (uint32_t g = 1; g < groups; ++g) value = fold(value, of_groups[g * tile_width + c]);
    finish_chunk<Op>(call, outer * call.width + first + c, chunk,
                     offset[1] + (first + c) * out_stride, value);
  }
}

/// A warp a result.
template <class Op>
__global__ void __launch_bounds__(kReduceBlock)
    fold_partials(const __grid_constant__ ReduceCall call) {
  using A = typename Op::A;
  // Not by the number of the thread: with many results, 32 bits do not count all threads.
  const uint32_t result = blockIdx.x * (kReduceBlock / kWarpSize) + threadIdx.x / kWarpSize;
  const uint32_t lane = threadIdx.x % kWarpSize;
  const typename Op::Fold fold;
  A value = Op::identity();
  if (result < call.results) {
    const A* const partials =
        static_cast<const A*>(call.partials) + int64_t{result} * call.all_chunks;
    for (uint32_t i = lane; i < call.all_chunks; i += kWarpSize) value = fold(value, partials[i]);
  }
  value = warp_reduce(value, fold);
  if (lane == 0 && result < call.results) {
    int64_t offset[2];
    call.kept.offsets(result, offset);
    Op::store(call, call.out_start + offset[1], value);
  }
}

}  // namespace taper::kernels::cuda
