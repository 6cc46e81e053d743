#include "support.h"
#include "taper/kernels/cuda/device/ptx.cuh"

// The matrix instructions and asynchronous copies against plain loops.

using namespace taper::kernels::cuda;

namespace {

template <class T>
T number(float value) {
  if constexpr (std::is_same_v<T, __half>)
    return __float2half(value);
  else
    return __float2bfloat16(value);
}

// Row-major a [16][16], b [16][8], d [16][8]: fragments picked as the comment in ptx.cuh says.
template <class T>
__global__ void __launch_bounds__(32) multiply(float* d, const T* a, const T* b) {
  const int g = static_cast<int>(threadIdx.x) / 4, t = 2 * (static_cast<int>(threadIdx.x) % 4);
  const auto pair = [](T low, T high) {
    return uint32_t{__builtin_bit_cast(uint16_t, low)} |
           uint32_t{__builtin_bit_cast(uint16_t, high)} << 16;
  };
  const auto row_pair = [&](int i, int j) { return pair(a[16 * i + j], a[16 * i + j + 1]); };
  const auto column_pair = [&](int i, int j) { return pair(b[8 * i + j], b[8 * (i + 1) + j]); };
  const uint32_t fa[4] = {row_pair(g, t), row_pair(g + 8, t), row_pair(g, t + 8),
                          row_pair(g + 8, t + 8)};
  const uint32_t fb[2] = {column_pair(t, g), column_pair(t + 8, g)};
  float fd[4] = {1, 2, 3, 4};
  mma_m16n8k16<T>(fd, fa, fb);
  d[8 * g + t] = fd[0];
  d[8 * g + t + 1] = fd[1];
  d[8 * (g + 8) + t] = fd[2];
  d[8 * (g + 8) + t + 1] = fd[3];
}

template <class T>
void check_multiply() {
  Emulator emulator;
  std::vector<float> a(256), b(128);
  for (size_t i = 0; i < a.size(); ++i) a[i] = float(int(i * 7 % 23) - 11);
  for (size_t i = 0; i < b.size(); ++i) b[i] = float(int(i * 5 % 19) - 9) / 4;
  std::vector<T> ha, hb;
  for (const float v : a) ha.push_back(number<T>(v));
  for (const float v : b) hb.push_back(number<T>(v));
  const Buffer<T> da(ha), db(hb);
  const Buffer<float> dd(size_t{128});
  REQUIRE(launch(cudaStream_t{}, multiply<T>, dim3(1), dim3(32), 0, dd, da, db).ok());
  const std::vector<float> d = dd.values();
  for (size_t i = 0; i < 16; ++i) {
    for (size_t j = 0; j < 8; ++j) {
      float wanted = float(1 + j % 2 + (i >= 8 ? 2 : 0));  // what was in d before
      for (size_t k = 0; k < 16; ++k) wanted += a[16 * i + k] * b[8 * k + j];
      CHECK(d[8 * i + j] == wanted);
    }
  }
}

template <int N, bool kTransposed>
__global__ void __launch_bounds__(32) load_tiles(uint32_t* out) {
  TAPER_SHARED(uint16_t, tile, [32][24]);  // rows of 48 bytes: still 16-byte aligned
  const unsigned lane = threadIdx.x;
  for (unsigned j = 0; j < 8; ++j) tile[lane][j] = static_cast<uint16_t>(100 * lane + j);
  __syncwarp();
  uint32_t r[N];
  if constexpr (kTransposed)
    ldmatrix_transposed(r, &tile[lane % (8 * N)][0]);
  else
    ldmatrix(r, &tile[lane % (8 * N)][0]);
  for (int i = 0; i < N; ++i) out[lane * N + unsigned(i)] = r[i];
}

template <int N, bool kTransposed>
void check_load() {
  Emulator emulator;
  const Buffer<uint32_t> out(size_t{32 * N});
  REQUIRE(launch(cudaStream_t{}, load_tiles<N, kTransposed>, dim3(1), dim3(32), 0, out).ok());
  const std::vector<uint32_t> r = out.values();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < N; ++i) {
      const unsigned g = lane / 4, t = 2 * (lane % 4);
      const auto value = [&](unsigned row, unsigned column) {
        return kTransposed ? 100 * (8 * i + column) + row : 100 * (8 * i + row) + column;
      };
      CHECK((r[lane * N + i] & 0xffff) == value(g, t));
      CHECK((r[lane * N + i] >> 16) == value(g, t + 1));
    }
  }
}

__global__ void __launch_bounds__(32) copies(float* early, float* late, const float* in) {
  TAPER_SHARED(float4, first, [32]);
  TAPER_SHARED(float4, second, [32]);
  TAPER_SHARED(float2, pairs, [32]);
  TAPER_SHARED(float, singles, [32]);
  const unsigned t = threadIdx.x;
  cp_async<16>(&first[t], in + 4 * t);
  cp_async_commit();
  cp_async<16>(&second[t], in + 4 * t, 8);  // two numbers, two zeros
  cp_async<8>(&pairs[t], in + 2 * t);
  cp_async<4>(&singles[t], in + t, t % 2 ? 0 : 4);
  cp_async_commit();
  cp_async_wait<1>();  // the first group is there, the second need not be
  early[t] = first[t].x + first[t].w;
  cp_async_wait<0>();
  late[6 * t] = second[t].x;
  late[6 * t + 1] = second[t].y;
  late[6 * t + 2] = second[t].z;
  late[6 * t + 3] = second[t].w;
  late[6 * t + 4] = pairs[t].y;
  late[6 * t + 5] = singles[t];
}

}  // namespace

TEST_CASE("mma_m16n8k16 is a product of matrices") {
  SECTION("half") { check_multiply<__half>(); }
  SECTION("bfloat16") { check_multiply<__nv_bfloat16>(); }
}

TEST_CASE("ldmatrix spreads tiles over the lanes") {
  check_load<1, false>();
  check_load<2, false>();
  check_load<4, false>();
  check_load<1, true>();
  check_load<2, true>();
  check_load<4, true>();
}

TEST_CASE("cp_async copies in groups, and fills with zeros") {
  Emulator emulator;
  std::vector<float> in(128);
  for (size_t i = 0; i < in.size(); ++i) in[i] = float(i + 1);
  const Buffer<float> x(in), early(size_t{32}), late(size_t{192});
  REQUIRE(launch(cudaStream_t{}, copies, dim3(1), dim3(32), 0, early, late, x).ok());
  const std::vector<float> first = early.values(), rest = late.values();
  for (size_t t = 0; t < 32; ++t) {
    CHECK(first[t] == in[4 * t] + in[4 * t + 3]);
    CHECK(rest[6 * t] == in[4 * t]);
    CHECK(rest[6 * t + 1] == in[4 * t + 1]);
    CHECK(rest[6 * t + 2] == 0);
    CHECK(rest[6 * t + 3] == 0);
    CHECK(rest[6 * t + 4] == in[2 * t + 1]);
    CHECK(rest[6 * t + 5] == (t % 2 ? 0 : in[t]));
  }
}
