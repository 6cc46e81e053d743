#include <cmath>

#include "support.h"
#include "taper/kernels/cuda/device/kernel.cuh"

// Launches, built-in variables, shared memory; whole kernels in order and in random orders.

using Catch::Matchers::ContainsSubstring;
using taper::kernels::Status;
using taper::kernels::cuda::launch;

namespace {

const std::string kOrders[] = {"", "threads=2", "seed=1", "seed=2,threads=2", "seed=3"};

__global__ void __launch_bounds__(60) where(int* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned size = blockDim.x * blockDim.y * blockDim.z;
  out[block * size + thread] += static_cast<int>(1000 * block + thread) + warpSize;
}

struct Nested {
  const float* in;
  int count;
  double factor;
};

__global__ void __launch_bounds__(32)
    takes_many(double* out, Nested nested, bool negate, int8_t offset) {
  double sum = offset;
  for (int i = 0; i < nested.count; ++i) sum += nested.in[i] * nested.factor;
  *out = negate ? -sum : sum;
}

// Two lanes wait for each other only: some threads end while others have not begun.
__global__ void __launch_bounds__(256) sums_of_two(int* out) {
  const int self = static_cast<int>(threadIdx.x);
  const unsigned both = 3u << (self % 32 / 2 * 2);
  out[blockIdx.x * blockDim.x + threadIdx.x] = self + __shfl_xor_sync(both, self, 1);
}

template <int kBlock>
__device__ float block_sum(float value) {
  TAPER_SHARED(float, partial, [kBlock / 32]);
  for (int bits = 16; bits != 0; bits /= 2) value += __shfl_xor_sync(0xffffffffu, value, bits);
  __syncthreads();  // an earlier call may still read
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (const float part : partial) sum += part;
  return sum;
}

template <int kBlock>
__global__ void __launch_bounds__(kBlock) softmax_rows(float* out, const float* in, int columns) {
  TAPER_DYNAMIC_SHARED(float, row);
  const float* const from = in + int64_t{blockIdx.x} * columns;
  float sum = 0;
  for (int i = int(threadIdx.x); i < columns; i += kBlock) {
    row[i] = __expf(from[i]);
    sum += row[i];
  }
  sum = block_sum<kBlock>(sum);
  for (int i = int(threadIdx.x); i < columns; i += kBlock) {
    out[int64_t{blockIdx.x} * columns + i] = row[i] / sum;
  }
}

__global__ void __launch_bounds__(256)
    multiply(float* c, const float* a, const float* b, int m, int n, int k) {
  TAPER_SHARED(float, tile_a, [16][17]);
  TAPER_SHARED(float, tile_b, [16][16]);
  const int x = int(threadIdx.x), y = int(threadIdx.y);
  const int row = int(blockIdx.y) * 16 + y, column = int(blockIdx.x) * 16 + x;
  float sum = 0;
  for (int first = 0; first < k; first += 16) {
    tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0.0f;
    tile_b[y][x] = column < n && first + y < k ? b[(first + y) * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

__global__ void __launch_bounds__(256) ends_early(int* out, int count) {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= count) return;  // those who are left make the barrier among themselves
  TAPER_SHARED(int, values, [256]);
  values[t] = t;
  __syncthreads();
  out[t] = values[count - 1 - t];
}

__global__ void __launch_bounds__(32) nothing() {}

}  // namespace

TEST_CASE("Every thread of every block runs once, and knows where it is") {
  for (const std::string& order : kOrders) {
    CAPTURE(order);
    Emulator emulator(order);
    const dim3 grid(3, 5, 2), block(4, 3, 5);
    const Buffer<int> out(std::vector<int>(30 * 60, 0));
    REQUIRE(launch(cudaStream_t{}, where, grid, block, 0, out).ok());
    const std::vector<int> got = out.values();
    for (int i = 0; i < 30 * 60; ++i) CHECK(got[size_t(i)] == 1000 * (i / 60) + i % 60 + 32);
  }
}

TEST_CASE("Arguments are converted to the kernel's types and copied at the launch") {
  Emulator emulator("streams=deferred");
  const Buffer<float> in(std::vector<float>{1, 2, 3});
  const Buffer<double> out(size_t{1});
  OwnStream stream;
  {
    Nested nested{in, 3, 0.5};
    REQUIRE(
        launch(cudaStream_t(stream), takes_many, dim3(1), dim3(1), 0, out, nested, 1, 100).ok());
    nested = {};
  }
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(out.values()[0] == -103);
}

TEST_CASE("A row's softmax: shuffles, static and dynamic shared memory") {
  for (const std::string& order : kOrders) {
    CAPTURE(order);
    Emulator emulator(order);
    constexpr int kRows = 7, kColumns = 300;
    std::vector<float> in(kRows * kColumns);
    for (size_t i = 0; i < in.size(); ++i) in[i] = float(i * 37 % 101) / 50 - 1;
    const Buffer<float> x(in), y(in.size());
    REQUIRE(launch(cudaStream_t{}, softmax_rows<128>, dim3(kRows), dim3(128),
                   kColumns * sizeof(float), y, x, kColumns)
                .ok());
    const std::vector<float> got = y.values();
    for (int row = 0; row < kRows; ++row) {
      double sum = 0;
      for (int i = 0; i < kColumns; ++i) sum += std::exp(double{in[size_t(row * kColumns + i)]});
      for (int i = 0; i < kColumns; ++i) {
        const auto at = size_t(row * kColumns + i);
        CHECK(got[at] == Approx(std::exp(double{in[at]}) / sum));
      }
    }
  }
}

TEST_CASE("A product of matrices in tiles") {
  for (const std::string& order : kOrders) {
    CAPTURE(order);
    Emulator emulator(order);
    constexpr int kM = 37, kN = 50, kK = 41;
    std::vector<float> a(kM * kK), b(kK * kN);
    for (size_t i = 0; i < a.size(); ++i) a[i] = float(int(i * 7 % 13) - 6);
    for (size_t i = 0; i < b.size(); ++i) b[i] = float(int(i * 5 % 11) - 5);
    const Buffer<float> da(a), db(b), dc(size_t{kM * kN});
    REQUIRE(launch(cudaStream_t{}, multiply, dim3((kN + 15) / 16, (kM + 15) / 16), dim3(16, 16), 0,
                   dc, da, db, kM, kN, kK)
                .ok());
    const std::vector<float> c = dc.values();
    for (int i = 0; i < kM; ++i) {
      for (int j = 0; j < kN; ++j) {
        float sum = 0;
        for (int k = 0; k < kK; ++k) sum += a[size_t(i * kK + k)] * b[size_t(k * kN + j)];
        CHECK(c[size_t(i * kN + j)] == sum);
      }
    }
  }
}

TEST_CASE("Threads that have ended take no part in barriers") {
  for (const std::string& order : kOrders) {
    CAPTURE(order);
    Emulator emulator(order);
    const Buffer<int> out(std::vector<int>(256, -1));
    REQUIRE(launch(cudaStream_t{}, ends_early, dim3(1), dim3(256), 0, out, 100).ok());
    const std::vector<int> got = out.values();
    for (int t = 0; t < 256; ++t) CHECK(got[size_t(t)] == (t < 100 ? 99 - t : -1));
  }
}

TEST_CASE("Dynamic shared memory beyond 48 KiB is asked for by launch itself") {
  Emulator emulator;
  const Buffer<float> x(std::vector<float>(20000, 0.0f)), y(size_t{20000});
  REQUIRE(launch(cudaStream_t{}, softmax_rows<128>, dim3(1), dim3(128), 20000 * sizeof(float), y, x,
                 20000)
              .ok());
  CHECK(y.values()[777] == Approx(1.0 / 20000));
}

TEST_CASE("A launch that fails says where and why, and leaves no error behind") {
  Emulator emulator;
  const Status status = launch(cudaStream_t{}, nothing, dim3(1), dim3(2048), 0);
  const std::string line = std::to_string(__LINE__ - 1);
  REQUIRE(status.code == taper::kernels::Code::kDeviceError);
  CHECK_THAT(status.what, ContainsSubstring("launch.cu:" + line) &&
                              ContainsSubstring("cudaErrorInvalidConfiguration"));
  CHECK_THAT(taper::emulator::last_report(), ContainsSubstring("launch.cu:" + line) &&
                                                 ContainsSubstring("2048") &&
                                                 ContainsSubstring("1 to 1024"));
  CHECK_CUDA(cudaGetLastError());
  struct Queue {
    void* handle;
  };
  CHECK(launch(Queue{nullptr}, nothing, dim3(1), dim3(32), 0).ok());
}

TEST_CASE("Threads meet in any order, on stacks that nobody has used") {
  for (int seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Emulator emulator("seed=" + std::to_string(seed));
    const Buffer<int> out(4 * 256);
    REQUIRE(launch(cudaStream_t{}, sums_of_two, dim3(4), dim3(256), 0, out.data()).ok());
    const std::vector<int> got = out.values();
    for (size_t i = 0; i < got.size(); ++i) {
      const int thread = static_cast<int>(i % 256);
      REQUIRE(got[i] == thread + (thread ^ 1));
    }
  }
}
