#include <cmath>
#include <limits>

#include "support.h"
#include "taper/kernels/cuda/device/kernel.cuh"

// Functions of one thread against plain formulas.

using taper::kernels::cuda::launch;

namespace {

template <class R, class F, class... A>
__global__ void __launch_bounds__(32) evaluate(R* out, F f, A... args) {
  *out = f(args...);
}

/// f(args...) in a kernel.
template <class F, class... A>
auto on_device(F f, A... args) {
  using R = decltype(f(args...));
  const Buffer<R> out(size_t{1});
  REQUIRE(launch(cudaStream_t{}, evaluate<R, F, A...>, dim3(1), dim3(1), 0, out, f, args...).ok());
  return out.values()[0];
}

#define ON_DEVICE(call, ...) on_device([](auto... x) { return call(x...); }, __VA_ARGS__)

}  // namespace

TEST_CASE("Fast and rounded arithmetic of floats") {
  Emulator emulator;
  for (const float x : {0.25f, 1.0f, 2.5f, 20.0f}) {
    CAPTURE(x);
    CHECK(ON_DEVICE(__expf, x) == Approx(std::exp(x)));
    CHECK(ON_DEVICE(__exp10f, x) == Approx(std::pow(10.0, x)));
    CHECK(ON_DEVICE(__logf, x) == Approx(std::log(x)));
    CHECK(ON_DEVICE(__log2f, x) == Approx(std::log2(x)));
    CHECK(ON_DEVICE(__log10f, x) == Approx(std::log10(x)));
    CHECK(ON_DEVICE(__sinf, x) == Approx(std::sin(x)));
    CHECK(ON_DEVICE(__cosf, x) == Approx(std::cos(x)));
    CHECK(ON_DEVICE(__tanf, x) == Approx(std::tan(x)));
    CHECK(on_device([](float v) { return rsqrtf(v); }, x) == Approx(1 / std::sqrt(x)));
    CHECK(on_device([](double v) { return rsqrt(v); }, double{x}) == Approx(1 / std::sqrt(x)));
    CHECK(on_device([](float v) { return rcbrtf(v); }, x) == Approx(1 / std::cbrt(x)));
    CHECK(on_device([](float v) { return normcdff(v); }, x) ==
          Approx((1 + std::erf(x / std::sqrt(2.0))) / 2));
    CHECK(on_device([](double v) { return normcdf(v); }, double{-x}) ==
          Approx(std::erfc(x / std::sqrt(2.0)) / 2));
    CHECK(ON_DEVICE(__frcp_rn, x) == 1 / x);
    CHECK(ON_DEVICE(__fsqrt_rn, x) == std::sqrt(x));
    CHECK(ON_DEVICE(__frsqrt_rn, x) == Approx(1 / std::sqrt(x)));
  }
  CHECK(on_device([](float x, float y) { return __powf(x, y); }, 3.0f, 2.0f) == Approx(9));
  CHECK(on_device(
            [](float x) {
              float s = 0, c = 0;
              __sincosf(x, &s, &c);
              return s + 10 * c;
            },
            0.5f) == Approx(std::sin(0.5) + 10 * std::cos(0.5)));
  CHECK(ON_DEVICE(__fdividef, 3.0f, 8.0f) == 0.375f);
  CHECK(ON_DEVICE(__fadd_rn, 3.0f, 8.0f) == 11);
  CHECK(ON_DEVICE(__fsub_rn, 3.0f, 8.0f) == -5);
  CHECK(ON_DEVICE(__fmul_rn, 3.0f, 8.0f) == 24);
  CHECK(ON_DEVICE(__fdiv_rn, 3.0f, 8.0f) == 0.375f);
  CHECK(ON_DEVICE(__dadd_rn, 3.0, 8.0) == 11);
  CHECK(ON_DEVICE(__dmul_rn, 3.0, 8.0) == 24);
  // One rounding: a product whose low half a separate multiplication would lose.
  const float a = 1 + 0x1p-12f, b = 1 - 0x1p-12f;
  CHECK(ON_DEVICE(__fmaf_rn, a, b, -1.0f) == -0x1p-24f);
  CHECK(ON_DEVICE(__fma_rn, 1 + 0x1p-30, 1 - 0x1p-30, -1.0) == -0x1p-60);
  CHECK(ON_DEVICE(__saturatef, 0.25f) == 0.25f);
  CHECK(ON_DEVICE(__saturatef, -2.0f) == 0);
  CHECK(ON_DEVICE(__saturatef, 2.0f) == 1);
  CHECK(ON_DEVICE(__saturatef, std::nanf("")) == 0);
}

TEST_CASE("min and max, whatever the type") {
  Emulator emulator;
  const auto both = [](auto x, auto y) { return 100 * min(x, y) + max(x, y); };
  CHECK(on_device(both, 3, 7) == 307);
  CHECK(on_device(both, -3, 7) == -293);
  CHECK(on_device(both, 3u, 7u) == 307);
  CHECK(on_device(both, 3ll, 7ll) == 307);
  CHECK(on_device(both, 3ull, 7ull) == 307);
  CHECK(on_device(both, int64_t{3}, int64_t{7}) == 307);
  CHECK(on_device(both, size_t{3}, size_t{7}) == 307);
  CHECK(on_device(both, 3.0f, 7.0f) == 307);
  CHECK(on_device(both, 3.0, 7.0) == 307);
  CHECK(on_device(both, std::nanf(""), 7.0f) == 707);  // a NaN loses
}

TEST_CASE("Integer arithmetic and bits") {
  Emulator emulator;
  CHECK(ON_DEVICE(__mulhi, -0x40000000, 16) == -4);
  CHECK(ON_DEVICE(__umulhi, 0x80000000u, 6u) == 3);
  CHECK(ON_DEVICE(__mul64hi, -(1ll << 62), 16ll) == -4);
  CHECK(ON_DEVICE(__umul64hi, 1ull << 63, 6ull) == 3);
  CHECK(ON_DEVICE(__dp4a, 0x01ff0203, 0x05060708, 10) == 10 + 5 - 6 + 14 + 24);
  CHECK(ON_DEVICE(__popc, 0xf0f01u) == 9);
  CHECK(ON_DEVICE(__popcll, 0xf0f01ull << 30) == 9);
  CHECK(ON_DEVICE(__ffs, 0x50) == 5);
  CHECK(ON_DEVICE(__ffs, 0) == 0);
  CHECK(ON_DEVICE(__ffsll, 1ll << 40) == 41);
  CHECK(ON_DEVICE(__clz, 1) == 31);
  CHECK(ON_DEVICE(__clz, 0) == 32);
  CHECK(ON_DEVICE(__clz, -1) == 0);
  CHECK(ON_DEVICE(__clzll, 1ll) == 63);
  CHECK(ON_DEVICE(__clzll, 0ll) == 64);
  CHECK(ON_DEVICE(__brev, 0x80000002u) == 0x40000001u);
  CHECK(ON_DEVICE(__byte_perm, 0x33221100u, 0x77665544u, 0x7250u) == 0x77225500u);
  CHECK(ON_DEVICE(__byte_perm, 0x00000080u, 0u, 0x1118u) == 0x000000ffu);  // the sign, repeated
  CHECK(ON_DEVICE(__funnelshift_l, 0x80000001u, 0x10u, 4u) == 0x108u);
  CHECK(ON_DEVICE(__funnelshift_r, 0x80000001u, 0x10u, 4u) == 0x08000000u);
  CHECK(ON_DEVICE(__float_as_int, -2.0f) == int(0xc0000000));
  CHECK(ON_DEVICE(__float_as_uint, 1.0f) == 0x3f800000u);
  CHECK(ON_DEVICE(__int_as_float, 0x40000000) == 2);
  CHECK(ON_DEVICE(__uint_as_float, 0x3f800000u) == 1);
  CHECK(ON_DEVICE(__double_as_longlong, 1.0) == 0x3ff0000000000000ll);
  CHECK(ON_DEVICE(__longlong_as_double, 0x4000000000000000ll) == 2);
}

TEST_CASE("Conversions round as they are named, and stop at the type's ends") {
  Emulator emulator;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(ON_DEVICE(__float2int_rn, 2.5f) == 2);
  CHECK(ON_DEVICE(__float2int_rn, 3.5f) == 4);
  CHECK(ON_DEVICE(__float2int_rz, -2.7f) == -2);
  CHECK(ON_DEVICE(__float2int_rd, -2.2f) == -3);
  CHECK(ON_DEVICE(__float2int_ru, 2.2f) == 3);
  CHECK(ON_DEVICE(__float2int_rn, 3e9f) == std::numeric_limits<int>::max());
  CHECK(ON_DEVICE(__float2int_rn, -kInfinity) == std::numeric_limits<int>::min());
  CHECK(ON_DEVICE(__float2int_rn, std::nanf("")) == 0);
  CHECK(ON_DEVICE(__float2uint_rn, 3e9f) == 3000000000u);
  CHECK(ON_DEVICE(__float2uint_rz, -3.0f) == 0);
  CHECK(ON_DEVICE(__float2uint_rz, kInfinity) == std::numeric_limits<unsigned>::max());
  CHECK(ON_DEVICE(__float2ll_rn, 2.5f) == 2);
  CHECK(ON_DEVICE(__float2ll_rz, -1e30f) == std::numeric_limits<long long>::min());
  CHECK(ON_DEVICE(__double2int_rn, 1.5) == 2);
  CHECK(ON_DEVICE(__double2int_rz, -1.9) == -1);
  CHECK(ON_DEVICE(__double2ll_rn, 0x1p62) == 1ll << 62);
  CHECK(ON_DEVICE(__double2ll_rz, 1e30) == std::numeric_limits<long long>::max());
  CHECK(ON_DEVICE(__int2float_rn, 7) == 7);
  CHECK(ON_DEVICE(__uint2float_rn, 7u) == 7);
  CHECK(ON_DEVICE(__ll2float_rn, 7ll) == 7);
  CHECK(ON_DEVICE(__double2float_rn, 0.1) == 0.1f);
}

namespace {

__global__ void __launch_bounds__(32) hints(int* out, const int* in) {
  const int i = static_cast<int>(threadIdx.x);
  const int sum = __ldg(in + i) + __ldcs(in + i) + __ldca(in + i) + __ldcg(in + i) +
                  __ldcv(in + i) + __ldlu(in + i);
  __stcs(out + 4 * i, sum);
  __stcg(out + 4 * i + 1, sum + 1);
  __stwb(out + 4 * i + 2, sum + 2);
  __stwt(out + 4 * i + 3, sum + 3);
}

__global__ void __launch_bounds__(32) clocks(long long* out) {
  const long long before = clock64();
  __nanosleep(10);
  *out = clock64() - before;
}

// The first thread waits for the last, which has to be let run.
__global__ void __launch_bounds__(64) waits_for_last(int* flag, int* out) {
  if (threadIdx.x == 63) atomicExch(flag, 1);
  while (atomicAdd(flag, 0) == 0) __nanosleep(100);
  out[threadIdx.x] = static_cast<int>(threadIdx.x);
}

}  // namespace

TEST_CASE("Loads and stores with hints load and store") {
  Emulator emulator;
  const Buffer<int> in(std::vector<int>{1, 2, 3, 4}), out(size_t{16});
  REQUIRE(launch(cudaStream_t{}, hints, dim3(1), dim3(4), 0, out, in).ok());
  const std::vector<int> got = out.values();
  for (int i = 0; i < 16; ++i) CHECK(got[size_t(i)] == 6 * (i / 4 + 1) + i % 4);
}

TEST_CASE("The clock goes on") {
  Emulator emulator;
  const Buffer<long long> out(size_t{1});
  REQUIRE(launch(cudaStream_t{}, clocks, dim3(1), dim3(1), 0, out).ok());
  CHECK(out.values()[0] > 0);
}

TEST_CASE("__nanosleep lets other threads run") {
  for (const std::string settings : {"", "seed=1", "seed=2"}) {
    Emulator emulator(settings);
    const Buffer<int> flag(std::vector<int>{0}), out(size_t{64});
    REQUIRE(launch(cudaStream_t{}, waits_for_last, dim3(1), dim3(64), 0, flag, out).ok());
    CHECK(out.values()[63] == 63);
  }
}
