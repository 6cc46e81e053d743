#include <algorithm>
#include <map>

#include "support.h"
#include "taper/kernels/cuda/device/kernel.cuh"

// Atomic functions: many threads and blocks against one loop. Each function is an expression of the
// address `p` and the thread's value `v`; integers commute, so order does not matter.

using taper::kernels::cuda::launch;

namespace {

constexpr int kBlocks = 20, kThreads = 96;

template <class T, class Op>
__global__ void __launch_bounds__(kThreads) apply_all(T* p, Op op) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  op(p, static_cast<T>(static_cast<float>(i % 37 + 3)));
}

// Runs on the device from `start`, and the same operation by itself in a loop.
template <class T, class Op, class Plain>
void check_atomic(const char* name, T start, Op op, Plain plain) {
  CAPTURE(name);
  const Buffer<T> p(std::vector<T>{start});
  REQUIRE(launch(cudaStream_t{}, apply_all<T, Op>, dim3(kBlocks), dim3(kThreads), 0, p, op).ok());
  T wanted = start;
  for (int i = 0; i < kBlocks * kThreads; ++i) {
    wanted = plain(wanted, static_cast<T>(static_cast<float>(i % 37 + 3)));
  }
  CHECK(static_cast<double>(p.values()[0]) == static_cast<double>(wanted));
}

#define CHECK_ATOMIC(T, name, start, expression)                             \
  check_atomic<T>(                                                           \
      #name " of " #T, static_cast<T>(start), [](T* p, T v) { name(p, v); }, \
      [](T a, [[maybe_unused]] T v) -> T { return static_cast<T>(expression); })

template <class T>
__global__ void __launch_bounds__(kThreads) tickets(T* counter, int* taken) {
  taken[static_cast<int>(atomicAdd(counter, T(1)))] += 1;
}

__global__ void __launch_bounds__(kThreads) compare_and_swap(unsigned long long* sum) {
  unsigned long long seen = atomicAdd(sum, 0), assumed = 0;
  do {
    assumed = seen;
    seen = atomicCAS(sum, assumed, assumed + threadIdx.x);
  } while (seen != assumed);
}

__global__ void __launch_bounds__(kThreads)
    last_block_sums(const int* in, int* partial, int* done, int* out) {
  TAPER_SHARED(bool, last);
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < kThreads; ++i) sum += in[blockIdx.x * kThreads + unsigned(i)];
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(done, 1) == static_cast<int>(gridDim.x) - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
    *out = sum;
  }
}

}  // namespace

TEST_CASE("Atomic functions of many threads equal a loop") {
  Emulator emulator("seed=11,threads=2");
  CHECK_ATOMIC(int, atomicAdd, 5, a + v);
  CHECK_ATOMIC(unsigned, atomicAdd, 5, a + v);
  CHECK_ATOMIC(unsigned long long, atomicAdd, 5, a + v);
  CHECK_ATOMIC(float, atomicAdd, 5, a + v);  // whole numbers: exact in any order
  CHECK_ATOMIC(double, atomicAdd, 5, a + v);
  CHECK_ATOMIC(int, atomicSub, 5, a - v);
  CHECK_ATOMIC(unsigned, atomicSub, 5, a - v);
  CHECK_ATOMIC(int, atomicMin, 7, std::min(a, v));
  CHECK_ATOMIC(unsigned, atomicMin, 7, std::min(a, v));
  CHECK_ATOMIC(long long, atomicMin, 7, std::min(a, v));
  CHECK_ATOMIC(unsigned long long, atomicMin, 7, std::min(a, v));
  CHECK_ATOMIC(int, atomicMax, -7, std::max(a, v));
  CHECK_ATOMIC(unsigned, atomicMax, 7, std::max(a, v));
  CHECK_ATOMIC(long long, atomicMax, -7, std::max(a, v));
  CHECK_ATOMIC(unsigned long long, atomicMax, 7, std::max(a, v));
  CHECK_ATOMIC(int, atomicAnd, -1, a& v);
  CHECK_ATOMIC(unsigned, atomicAnd, 0xffff, a& v);
  CHECK_ATOMIC(int, atomicOr, 64, a | v);
  CHECK_ATOMIC(unsigned, atomicOr, 64, a | v);
  CHECK_ATOMIC(int, atomicXor, 64, a ^ v);
  CHECK_ATOMIC(unsigned, atomicXor, 64, a ^ v);
}

TEST_CASE("atomicAdd of halves rounds once per addition") {
  Emulator emulator;
  const auto add = [](auto* p, auto v) { atomicAdd(p, v); };
  const Buffer<__half> h(std::vector<__half>{__float2half(0)});
  const Buffer<__nv_bfloat16> b(std::vector<__nv_bfloat16>{__float2bfloat16(0)});
  REQUIRE(
      launch(cudaStream_t{}, apply_all<__half, decltype(add)>, dim3(1), dim3(32), 0, h, add).ok());
  REQUIRE(
      launch(cudaStream_t{}, apply_all<__nv_bfloat16, decltype(add)>, dim3(1), dim3(32), 0, b, add)
          .ok());
  __half half_sum = __float2half(0);
  __nv_bfloat16 bfloat_sum = __float2bfloat16(0);
  for (int i = 0; i < 32; ++i) {
    half_sum = __float2half(__half2float(half_sum) + float(i + 3));
    bfloat_sum = __float2bfloat16(__bfloat162float(bfloat_sum) + float(i + 3));
  }
  CHECK(__half2float(h.values()[0]) == __half2float(half_sum));
  CHECK(__bfloat162float(b.values()[0]) == __bfloat162float(bfloat_sum));
}

TEST_CASE("An atomic function returns the value before") {
  Emulator emulator("seed=2");
  const Buffer<int> counter(std::vector<int>{0});
  const Buffer<int> taken(std::vector<int>(kBlocks * kThreads, 0));
  REQUIRE(
      launch(cudaStream_t{}, tickets<int>, dim3(kBlocks), dim3(kThreads), 0, counter, taken).ok());
  CHECK(taken.values() == std::vector<int>(kBlocks * kThreads, 1));  // each ticket once

  const auto one_thread = [](auto op, int start) {
    const Buffer<int> p(std::vector<int>{start});
    REQUIRE(launch(cudaStream_t{}, apply_all<int, decltype(op)>, dim3(1), dim3(1), 0, p, op).ok());
    return p.values()[0];
  };
  // The thread's value is 3; what the function returned comes back in the upper digits.
  CHECK(one_thread([](int* p, int v) { *p += 100 * atomicExch(p, v); }, 8) == 803);
  CHECK(one_thread([](int* p, int v) { *p += 100 * atomicCAS(p, 8, v); }, 8) == 803);
  CHECK(one_thread([](int* p, int v) { *p += 100 * atomicCAS(p, 9, v); }, 8) == 808);
  const auto wrap = [](int start, auto op) {
    const Buffer<unsigned> p(std::vector<unsigned>{unsigned(start)});
    REQUIRE(
        launch(cudaStream_t{}, apply_all<unsigned, decltype(op)>, dim3(1), dim3(1), 0, p, op).ok());
    return p.values()[0];
  };
  const auto increment = [](unsigned* p, unsigned v) { atomicInc(p, v); };
  const auto decrement = [](unsigned* p, unsigned v) { atomicDec(p, v); };
  CHECK(wrap(2, increment) == 3);
  CHECK(wrap(3, increment) == 0);
  CHECK(wrap(2, decrement) == 1);
  CHECK(wrap(0, decrement) == 3);
  CHECK(wrap(9, decrement) == 3);
}

TEST_CASE("A loop of atomicCAS makes other functions") {
  Emulator emulator("seed=4,threads=2");
  const Buffer<unsigned long long> sum(std::vector<unsigned long long>{0});
  REQUIRE(launch(cudaStream_t{}, compare_and_swap, dim3(kBlocks), dim3(kThreads), 0, sum).ok());
  CHECK(sum.values()[0] == kBlocks * (kThreads * (kThreads - 1) / 2));
}

TEST_CASE("The block that comes last sees what the others wrote") {
  for (const std::string settings : {"", "seed=1", "seed=2,threads=2"}) {
    Emulator emulator(settings);
    std::vector<int> in(kBlocks * kThreads);
    for (size_t i = 0; i < in.size(); ++i) in[i] = int(i);
    const Buffer<int> x(in), partial(size_t{kBlocks}), out(size_t{1});
    const Buffer<int> done(std::vector<int>{0});
    REQUIRE(launch(cudaStream_t{}, last_block_sums, dim3(kBlocks), dim3(kThreads), 0, x, partial,
                   done, out)
                .ok());
    CHECK(out.values()[0] == int(in.size() * (in.size() - 1) / 2));
  }
}
