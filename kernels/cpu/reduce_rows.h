#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "taper/kernels/cpu/vec.h"

// Passes over one row of elements side by side, for softmax, normalisation and losses.

TAPER_CPU_BEGIN

/// What a T is computed in: float for halves.
template <class T>
using compute_t = typename packet_t<T>::Scalar;

/// A full register of a row; `terms` are numbers in the type of computation.
template <class T>
struct WholePacket {
  using V = packet_t<T>;
  TAPER_INLINE V load(const T* from) const { return cpu::load(from); }
  TAPER_INLINE void store(T* to, V x) const { cpu::store(to, x); }
  TAPER_INLINE V load_terms(const compute_t<T>* from) const { return V::load(from); }
  TAPER_INLINE void store_terms(compute_t<T>* to, V x) const { x.store(to); }
  TAPER_INLINE V keep(V x, V /*otherwise*/) const { return x; }
};

/// The last, partly filled register of a row.
template <class T>
struct PartPacket {
  using V = packet_t<T>;
  int64_t count;
  TAPER_INLINE V load(const T* from) const { return cpu::load(from, count); }
  TAPER_INLINE void store(T* to, V x) const { cpu::store(to, x, count); }
  TAPER_INLINE V load_terms(const compute_t<T>* from) const { return V::load(from, count); }
  TAPER_INLINE void store_terms(compute_t<T>* to, V x) const { x.store(to, count); }
  TAPER_INLINE V keep(V x, V otherwise) const {
    return select(iota<compute_t<T>>() < V(static_cast<compute_t<T>>(count)), x, otherwise);
  }
};

/// Calls body(i, packet) for i = 0, lanes, 2 * lanes, ...; the packet loads and stores at i.
template <class T, class Body>
TAPER_INLINE void for_packets(int64_t size, const Body& body) {
  constexpr int64_t kLanes = packet_t<T>::kSize;
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) body(i, WholePacket<T>{});
  if (i < size) body(i, PartPacket<T>{size - i});
}

/// As for_packets with body(i, packet, k), where k < 4 picks one of four accumulators.
template <class T, class Body>
TAPER_INLINE void for_packets_by_four(int64_t begin, int64_t end, const Body& body) {
  constexpr int64_t kLanes = packet_t<T>::kSize;
  int64_t i = begin;
  for (; i + 4 * kLanes <= end; i += 4 * kLanes) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) body(i + k * kLanes, WholePacket<T>{}, k);
  }
  for (; i + kLanes <= end; i += kLanes) body(i, WholePacket<T>{}, 0);
  if (i < end) body(i, PartPacket<T>{end - i}, 1);
}

/// N sums over a row at once: add(i, packet, sums) adds what the packet at i contributes, with
/// keep() where lanes past the end would not contribute 0. Float within blocks of 4096, double
/// between them.
template <class T, int N, class Add>
TAPER_INLINE std::array<double, N> row_sums(int64_t size, const Add& add) {
  using V = packet_t<T>;
  std::array<double, N> total{};
  for (int64_t start = 0; start < size; start += 4096) {
    V sums[4][N];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) sums[k][n] = V(0);
    }
    for_packets_by_four<T>(start, std::min(start + 4096, size),
                           [&](int64_t i, auto packet, int k) { add(i, packet, sums[k]); });
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) {
      total[n] += reduce_add((sums[0][n] + sums[1][n]) + (sums[2][n] + sums[3][n]));
    }
  }
  return total;
}

/// The largest element. NaN is passed over: exp(NaN - top) brings it back.
template <class T>
TAPER_INLINE compute_t<T> row_max(const T* in, int64_t size) {
  using V = packet_t<T>;
  const V lowest(-std::numeric_limits<compute_t<T>>::infinity());
  V top[4] = {lowest, lowest, lowest, lowest};
  for_packets_by_four<T>(0, size, [&](int64_t i, auto packet, int k) {
    top[k] = max(packet.keep(packet.load(in + i), lowest), top[k]);
  });
  return reduce_max(max(max(top[0], top[1]), max(top[2], top[3])));
}

/// The sum of exp(in[i] - top); the terms go to `terms` when kKeep.
template <bool kKeep, class T>
TAPER_INLINE compute_t<T> row_sum_exp(const T* in, int64_t size, compute_t<T> top,
                                      [[maybe_unused]] compute_t<T>* terms = nullptr) {
  using V = packet_t<T>;
  return static_cast<compute_t<T>>(row_sums<T, 1>(size, [&](int64_t i, auto packet, V* sums) {
    const V e = exp(packet.load(in + i) - V(top));
    if constexpr (kKeep) packet.store_terms(terms + i, e);
    sums[0] += packet.keep(e, V(0));
  })[0]);
}

TAPER_CPU_END
