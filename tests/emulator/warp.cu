#include "support.h"
#include "taper/kernels/cuda/device/kernel.cuh"

// Warp operations against plain loops over the lanes.

using taper::kernels::cuda::launch;

namespace {

enum class Shuffle { kIndex, kXor, kUp, kDown };

template <class T>
__global__ void __launch_bounds__(64) shuffles(T* out, Shuffle kind, int argument, int width) {
  const T mine = static_cast<T>(100 + threadIdx.x);
  const auto delta = static_cast<unsigned>(argument);
  T got{};
  switch (kind) {
    case Shuffle::kIndex:
      got = __shfl_sync(0xffffffffu, mine, argument, width);
      break;
    case Shuffle::kXor:
      got = __shfl_xor_sync(0xffffffffu, mine, argument, width);
      break;
    case Shuffle::kUp:
      got = __shfl_up_sync(0xffffffffu, mine, delta, width);
      break;
    case Shuffle::kDown:
      got = __shfl_down_sync(0xffffffffu, mine, delta, width);
      break;
  }
  out[threadIdx.x] = got;
}

// NVIDIA's description: a segment of `width` lanes; outside it, a lane keeps its own value. Only an
// index wraps, and only xor may reach into a lower segment.
int source_lane(Shuffle kind, int lane, int argument, int width) {
  const int first = lane / width * width, last = first + width - 1;
  switch (kind) {
    case Shuffle::kIndex:
      return first + argument % width;
    case Shuffle::kXor:
      return (lane ^ argument) <= last ? lane ^ argument : lane;
    case Shuffle::kUp:
      return lane - argument >= first ? lane - argument : lane;
    case Shuffle::kDown:
      return lane + argument <= last ? lane + argument : lane;
  }
  return -1;
}

template <class T>
void check_shuffles() {
  Emulator emulator;
  const Buffer<T> out(64);
  for (const Shuffle kind : {Shuffle::kIndex, Shuffle::kXor, Shuffle::kUp, Shuffle::kDown}) {
    for (const int width : {2, 8, 32}) {
      for (const int argument : {0, 1, 3, 7, 16, 31}) {
        CAPTURE(int(kind), width, argument);
        REQUIRE(
            launch(cudaStream_t{}, shuffles<T>, dim3(1), dim3(64), 0, out, kind, argument, width)
                .ok());
        const std::vector<T> got = out.values();
        for (int i = 0; i < 64; ++i) {
          const int from = i / 32 * 32 + source_lane(kind, i % 32, argument, width);
          CHECK(static_cast<int>(got[size_t(i)]) == 100 + from);
        }
      }
    }
  }
}

struct Votes {
  unsigned ballot;
  int any, all;
  unsigned same, all_same;
  int all_same_found;
  unsigned sum, smallest, largest, and_bits, or_bits, xor_bits;
  int signed_sum, signed_smallest, signed_largest;
};

__global__ void __launch_bounds__(32) votes(Votes* out, unsigned mask, int divisor) {
  const int lane = static_cast<int>(threadIdx.x);
  if ((mask >> lane & 1) == 0) return;
  const int value = lane / divisor;
  Votes v{};
  v.ballot = __ballot_sync(mask, value % 2);
  v.any = __any_sync(mask, value == 3);
  v.all = __all_sync(mask, value < 16);
  v.same = __match_any_sync(mask, value);
  v.all_same = __match_all_sync(mask, value, &v.all_same_found);
  v.sum = __reduce_add_sync(mask, unsigned(value));
  v.smallest = __reduce_min_sync(mask, unsigned(value));
  v.largest = __reduce_max_sync(mask, unsigned(value));
  v.and_bits = __reduce_and_sync(mask, unsigned(value) | 64u);
  v.or_bits = __reduce_or_sync(mask, unsigned(value));
  v.xor_bits = __reduce_xor_sync(mask, unsigned(value));
  v.signed_sum = __reduce_add_sync(mask, value - 5);
  v.signed_smallest = __reduce_min_sync(mask, value - 5);
  v.signed_largest = __reduce_max_sync(mask, value - 5);
  out[lane] = v;
}

struct Counts {
  int count, all, any;
};

__global__ void __launch_bounds__(128) block_votes(Counts* out, int threshold) {
  const int t = static_cast<int>(threadIdx.x);
  Counts c{};
  c.count = __syncthreads_count(t < threshold);
  c.all = __syncthreads_and(t < threshold);
  c.any = __syncthreads_or(t < threshold);
  out[t] = c;
}

}  // namespace

TEST_CASE("Shuffles read the lanes that CUDA's description says") {
  SECTION("int") { check_shuffles<int>(); }
  SECTION("float") { check_shuffles<float>(); }
  SECTION("double") { check_shuffles<double>(); }
  SECTION("long long") { check_shuffles<long long>(); }
}

TEST_CASE("Votes, matches and reductions of a warp") {
  // Disjoint masks: the two halves do not wait for each other.
  for (const std::string settings : {"", "seed=3"}) {
    Emulator emulator(settings);
    const Buffer<Votes> out(32);
    for (const unsigned mask : {0xffffffffu, 0x0000ffffu, 0x80000001u, 0x55555555u}) {
      for (const int divisor : {1, 4, 100}) {
        CAPTURE(mask, divisor, settings);
        REQUIRE(launch(cudaStream_t{}, votes, dim3(1), dim3(32), 0, out, mask, divisor).ok());
        const std::vector<Votes> got = out.values();
        Votes wanted{};
        wanted.all = wanted.all_same_found = 1;
        wanted.smallest = wanted.and_bits = ~0u;
        wanted.signed_smallest = 1 << 30;
        wanted.signed_largest = -(1 << 30);
        int first = -1;
        for (int lane = 0; lane < 32; ++lane) {
          if ((mask >> lane & 1) == 0) continue;
          const int value = lane / divisor;
          if (first < 0) first = value;
          if (value % 2) wanted.ballot |= 1u << lane;
          wanted.any |= value == 3;
          wanted.all &= value < 16;
          wanted.all_same_found &= value == first;
          wanted.sum += unsigned(value);
          wanted.smallest = std::min(wanted.smallest, unsigned(value));
          wanted.largest = std::max(wanted.largest, unsigned(value));
          wanted.and_bits &= unsigned(value) | 64u;
          wanted.or_bits |= unsigned(value);
          wanted.xor_bits ^= unsigned(value);
          wanted.signed_sum += value - 5;
          wanted.signed_smallest = std::min(wanted.signed_smallest, value - 5);
          wanted.signed_largest = std::max(wanted.signed_largest, value - 5);
        }
        for (int lane = 0; lane < 32; ++lane) {
          if ((mask >> lane & 1) == 0) continue;
          unsigned same = 0;
          for (int other = 0; other < 32; ++other) {
            if ((mask >> other & 1) && other / divisor == lane / divisor) same |= 1u << other;
          }
          const Votes& v = got[size_t(lane)];
          CAPTURE(lane);
          CHECK(v.ballot == wanted.ballot);
          CHECK(v.any == wanted.any);
          CHECK(v.all == wanted.all);
          CHECK(v.same == same);
          CHECK(v.all_same_found == wanted.all_same_found);
          CHECK(v.all_same == (wanted.all_same_found ? mask : 0));
          CHECK(v.sum == wanted.sum);
          CHECK(v.smallest == wanted.smallest);
          CHECK(v.largest == wanted.largest);
          CHECK(v.and_bits == wanted.and_bits);
          CHECK(v.or_bits == wanted.or_bits);
          CHECK(v.xor_bits == wanted.xor_bits);
          CHECK(v.signed_sum == wanted.signed_sum);
          CHECK(v.signed_smallest == wanted.signed_smallest);
          CHECK(v.signed_largest == wanted.signed_largest);
        }
      }
    }
  }
}

TEST_CASE("A barrier counts, and answers every thread alike") {
  for (const std::string settings : {"", "seed=5"}) {
    Emulator emulator(settings);
    const Buffer<Counts> out(128);
    for (const int threshold : {0, 1, 77, 128}) {
      REQUIRE(launch(cudaStream_t{}, block_votes, dim3(1), dim3(128), 0, out, threshold).ok());
      for (const Counts& c : out.values()) {
        CHECK(c.count == threshold);
        CHECK(c.all == (threshold == 128));
        CHECK(c.any == (threshold > 0));
      }
    }
  }
}
