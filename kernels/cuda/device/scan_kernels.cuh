#pragma once

#include "taper/kernels/cuda/device/packet.cuh"
#include "taper/kernels/cuda/device/scan.cuh"
#include "taper/kernels/functors/math.h"

// Running sums, products, extremes and log-sum-exps of a tensor seen as [outer, size, inner].
//
//   scan_rows      inner = 1: a warp or a block goes along a row, tile after tile, with a carry
//   scan_columns   a thread a line; neighbouring threads have neighbouring lines
//   scan_carries   where lines alone would be too few to fill the device, they are cut into chunks:
//                  a first pass (ScanCall::totals_only) folds each chunk, this makes of these folds
//                  what comes before each chunk, and a last pass scans the chunks
//
// An Op has In, A (what is carried, a number or a plain struct), fold(earlier, later), identity(),
// read(x, position) and write(call, offset, a).

namespace taper::kernels::cuda {

constexpr int kScanBlock = 256;  // eight warps: little to fold between them, few idle in short rows
constexpr int kScanBlocks = 3;   // on a multiprocessor: the values of a thread and their folds

struct ScanCall {
  const void* in;
  void* out;
  int64_t* indices;
  void* carries;  ///< A[lines][chunks]; null where there is one chunk
  int64_t lines, size, inner;
  int64_t chunk;  ///< elements of a chunk, number blockIdx.y
  bool totals_only;
  bool packed;  ///< rows: tiles can be loaded and stored as packets
};

/// Elements of a thread in a tile of scan_rows.
template <class T>
constexpr int kScanWidth = sizeof(T) < 2 ? 8 : 16 / static_cast<int>(sizeof(T));

template <class Op>
struct ScanFold {
  using A = typename Op::A;
  __device__ __forceinline__ A operator()(A earlier, A later) const {
    return Op::fold(earlier, later);
  }
};

template <class Op, int kThreads>
__global__ void __launch_bounds__(kScanBlock, kScanBlocks)
    scan_rows(const __grid_constant__ ScanCall call) {
  using T = typename Op::In;
  using A = typename Op::A;
  constexpr int kWidth = kScanWidth<T>, kTile = kThreads * kWidth;
  constexpr int kRowsOfBlock = kScanBlock / kThreads;
  const int64_t row = int64_t{blockIdx.x} * kRowsOfBlock + threadIdx.x / kThreads;
  const int thread = static_cast<int>(threadIdx.x) % kThreads;
  const int64_t begin = blockIdx.y * call.chunk;
  int64_t end = begin + call.chunk < call.size ? begin + call.chunk : call.size;
  if (row >= call.lines) end = begin;  // a warp's row only: a block's is always there
  const T* const in = static_cast<const T*>(call.in) + row * call.size;
  const int64_t start = row * call.size;
  A* const carries = static_cast<A*>(call.carries) + (row * gridDim.y + blockIdx.y);
  const ScanFold<Op> fold;

  A carry = call.carries && !call.totals_only && row < call.lines ? *carries : Op::identity();
  for (int64_t tile = begin; tile < end; tile += kTile) {
    const int64_t first = tile + thread * kWidth;
    const int count = first + kWidth <= end ? kWidth : first < end ? int(end - first) : 0;
    const bool whole = call.packed && count == kWidth;
    Packet<T, kWidth> packet = {};
    if (whole) {
      packet = *reinterpret_cast<const Packet<T, kWidth>*>(in + first);
    } else {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        if (j < count) packet.at[j] = in[first + j];
      }
    }
    A through[kWidth];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      const A mine = j < count ? Op::read(packet.at[j], first + j) : Op::identity();
      through[j] = j == 0 ? mine : fold(through[j > 0 ? j - 1 : 0], mine);
    }
    const Scanned<A> threads = scan_threads<kThreads>(through[kWidth - 1], Op::identity(), fold);
    const A before = fold(carry, threads.before);
    carry = fold(carry, threads.total);
    if (call.totals_only) continue;
    Packet<int64_t, 2> positions[kWidth / 2];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      const A result = fold(before, through[j]);
      packet.at[j] = Op::value(result);
      if constexpr (Op::kPositions) positions[j / 2].at[j % 2] = result.position;
    }
    if (whole) {
      *reinterpret_cast<Packet<T, kWidth>*>(static_cast<T*>(call.out) + start + first) = packet;
      if constexpr (Op::kPositions) {
        auto* const to = reinterpret_cast<Packet<int64_t, 2>*>(call.indices + start + first);
#pragma unroll
        for (int j = 0; j < kWidth / 2; ++j) to[j] = positions[j];
      }
    } else {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        if (j >= count) continue;
        static_cast<T*>(call.out)[start + first + j] = packet.at[j];
        if constexpr (Op::kPositions) {
          call.indices[start + first + j] = positions[j / 2].at[j % 2];
        }
      }
    }
  }
  if (call.totals_only && thread == 0 && row < call.lines) *carries = carry;
}

template <class Op>
__global__ void __launch_bounds__(kScanBlock) scan_columns(const __grid_constant__ ScanCall call) {
  using T = typename Op::In;
  using A = typename Op::A;
  constexpr int kUnroll = 4;  // loads under way at a time
  const int64_t line = int64_t{blockIdx.x} * kScanBlock + threadIdx.x;
  if (line >= call.lines) return;
  const int64_t begin = blockIdx.y * call.chunk;
  const int64_t end = begin + call.chunk < call.size ? begin + call.chunk : call.size;
  const int64_t outer = line / call.inner;
  const int64_t start = outer * call.size * call.inner + (line - outer * call.inner);
  const T* const in = static_cast<const T*>(call.in) + start;
  A* const carries = static_cast<A*>(call.carries) + (line * gridDim.y + blockIdx.y);

  A carry = call.carries && !call.totals_only ? *carries : Op::identity();
  for (int64_t i = begin; i < end; i += kUnroll) {
    T x[kUnroll];
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u < end) x[u] = in[(i + u) * call.inner];
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (i + u >= end) continue;
      carry = Op::fold(carry, Op::read(x[u], i + u));
      if (call.totals_only) continue;
      const int64_t at = start + (i + u) * call.inner;
      static_cast<T*>(call.out)[at] = Op::value(carry);
      if constexpr (Op::kPositions) call.indices[at] = carry.position;
    }
  }
  if (call.totals_only) *carries = carry;
}

/// A warp a line.
template <class Op>
__global__ void __launch_bounds__(kScanBlock)
    scan_carries(typename Op::A* carries, int64_t lines, int64_t chunks) {
  using A = typename Op::A;
  const int64_t line = (int64_t{blockIdx.x} * kScanBlock + threadIdx.x) / kWarpSize;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const ScanFold<Op> fold;
  A carry = Op::identity();
  for (int64_t first = 0; first < chunks; first += kWarpSize) {
    const bool there = line < lines && first + lane < chunks;
    A* const mine = carries + (line * chunks + first + lane);
    const Scanned<A> lanes =
        scan_threads<kWarpSize>(there ? *mine : Op::identity(), Op::identity(), fold);
    if (there) *mine = fold(carry, lanes.before);
    carry = fold(carry, lanes.total);
  }
}

// ---- Ops ----------------------------------------------------------------------------------------

/// Floats are carried in double, halves in float; integers wrap at any width alike, and bool is
/// carried as 0 or 1.
template <class T>
struct Running {
  using type = std::conditional_t<std::is_same_v<T, float>, double, compute_t<T>>;
};
template <class T>
  requires(functors::is_integer<T> && sizeof(T) < 4)
struct Running<T> {
  using type = int32_t;
};

template <class T>
struct PlainScan {
  using In = T;
  using A = typename Running<T>::type;
  static constexpr bool kPositions = false;
  static __device__ __forceinline__ A read(T x, int64_t) { return static_cast<A>(widen(x)); }
  static __device__ __forceinline__ T value(A a) {
    if constexpr (functors::is_integer<A>)
      return static_cast<T>(a);
    else
      return narrow<T>(static_cast<compute_t<T>>(a));
  }
};

template <class T>
struct SumScan : PlainScan<T> {
  using A = typename PlainScan<T>::A;
  static __device__ __forceinline__ A identity() { return A(0); }
  static __device__ __forceinline__ A fold(A a, A b) {
    if constexpr (std::is_same_v<T, bool>)
      return a | b;
    else
      return functors::add(a, b);
  }
};

template <class T>
struct ProductScan : PlainScan<T> {
  using A = typename PlainScan<T>::A;
  static __device__ __forceinline__ A identity() { return A(1); }
  static __device__ __forceinline__ A fold(A a, A b) { return functors::mul(a, b); }
};

template <class T>
struct LogSumExpScan : PlainScan<T> {
  using A = typename PlainScan<T>::A;
  static __device__ __forceinline__ A identity() { return -static_cast<A>(__builtin_huge_val()); }
  static __device__ __forceinline__ A fold(A a, A b) {
    const A top = functors::max(a, b), rest = functors::min(a, b);
    if (a != a || b != b) return a + b;
    // Equal infinities: their difference is NaN.
    if (top == rest && functors::isinf(top)) return top;
    return top + functors::log1p(functors::exp(rest - top));
  }
};

template <class C>
struct RunningExtreme {
  int64_t position;  ///< -1: none yet
  C value;
};

/// The later of equals, and any NaN once there has been one.
template <class T, bool kLargest>
struct ExtremeScan {
  using In = T;
  using C = typename std::conditional_t<functors::is_integer<T>, Running<T>, ComputeType<T>>::type;
  using A = RunningExtreme<C>;
  static constexpr bool kPositions = true;
  static __device__ __forceinline__ A identity() { return {-1, C(0)}; }
  static __device__ __forceinline__ A read(T x, int64_t position) {
    return {position, static_cast<C>(widen(x))};
  }
  static __device__ __forceinline__ A fold(A a, A b) {
    const bool wins = (kLargest ? b.value >= a.value : b.value <= a.value) || b.value != b.value;
    return a.position < 0 || (b.position >= 0 && wins) ? b : a;
  }
  static __device__ __forceinline__ T value(A a) {
    if constexpr (functors::is_integer<C>)
      return static_cast<T>(a.value);
    else
      return narrow<T>(a.value);
  }
};

}  // namespace taper::kernels::cuda
