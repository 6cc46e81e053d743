#include <cmath>
#include <cstring>

#include "support.h"

// Memory and copies, as the runtime's documentation has them.

using Catch::Matchers::ContainsSubstring;
using taper::emulator::last_report;

namespace {

std::string line_here(int line) { return "memory.cpp:" + std::to_string(line); }

}  // namespace

TEST_CASE("Device memory has a size, and comes back when freed") {
  Emulator emulator("memory=8M");
  size_t free = 0, total = 0;
  CHECK_CUDA(cudaMemGetInfo(&free, &total));
  CHECK(free == 8 << 20);
  CHECK(total == 8 << 20);
  void *big = nullptr, *small = nullptr;
  CHECK_CUDA(cudaMalloc(&big, 7 << 20));
  CHECK_CUDA_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&small, 2 << 20));
  CHECK(small == nullptr);
  CHECK_CUDA_ERROR(cudaErrorMemoryAllocation, cudaGetLastError());
  CHECK_CUDA(cudaGetLastError());  // running out of memory is not for ever
  CHECK_CUDA(cudaMalloc(&small, 1 << 20));
  CHECK_CUDA(cudaMemGetInfo(&free, &total));
  CHECK(free == 0);
  CHECK_CUDA(cudaFree(big));
  for (int i = 0; i < 100; ++i) {  // holes are used again
    CHECK_CUDA(cudaMalloc(&big, (6 << 20) + i * 512));
    CHECK(reinterpret_cast<uintptr_t>(big) % 256 == 0);
    CHECK_CUDA(cudaFree(big));
  }
  CHECK_CUDA(cudaFree(small));
  CHECK_CUDA(cudaFree(nullptr));
  CHECK_CUDA(cudaMemGetInfo(&free, &total));
  CHECK(free == 8 << 20);
}

TEST_CASE("Memory that nobody wrote is NaN in every type") {
  Emulator emulator;
  for (const float v : Buffer<float>(size_t{33}).values()) CHECK(std::isnan(v));
  for (const double v : Buffer<double>(size_t{33}).values()) CHECK(std::isnan(v));
  for (const uint16_t v : Buffer<uint16_t>(size_t{33}).values()) {
    CHECK((v & 0x7c00) == 0x7c00);  // a half
    CHECK((v & 0x7f80) == 0x7f80);  // a bfloat16
    CHECK((v & 0x007f) != 0);
  }
}

TEST_CASE("Copies in all directions, with rows, and fills") {
  for (const std::string settings : {"", "streams=deferred", "seed=9"}) {
    Emulator emulator(settings);
    OwnStream stream;
    std::vector<int> in(60), out(60, -1);
    for (size_t i = 0; i < in.size(); ++i) in[i] = int(i);
    Buffer<int> a(size_t{60}), b(size_t{60});
    CHECK_CUDA(cudaMemcpyAsync(a, in.data(), a.bytes(), cudaMemcpyHostToDevice, stream));
    in.assign(60, 99);  // pageable memory has been read by now
    CHECK_CUDA(cudaMemsetAsync(b, 0xff, b.bytes(), stream));
    // Three rows of four numbers, from a matrix of ten columns into one of twelve.
    CHECK_CUDA(cudaMemcpy2DAsync(b.data() + 2, 12 * sizeof(int), a.data() + 1, 10 * sizeof(int),
                                 4 * sizeof(int), 3, cudaMemcpyDeviceToDevice, stream));
    CHECK_CUDA(cudaMemset2DAsync(b.data() + 48, 4 * sizeof(int), 0, sizeof(int), 3, stream));
    CHECK_CUDA(cudaMemcpyAsync(out.data(), b, b.bytes(), cudaMemcpyDefault, stream));
    // Into pageable memory it waits.
    for (int i = 0; i < 60; ++i) {
      int wanted = -1;
      if (i < 36 && i % 12 >= 2 && i % 12 < 6) wanted = i / 12 * 10 + i % 12 - 1;
      if (i == 48 || i == 52 || i == 56) wanted = 0;
      CHECK(out[size_t(i)] == wanted);
    }
  }
}

TEST_CASE("A copy is checked before it runs") {
  Emulator emulator;
  Buffer<int> a(size_t{16});
  int host[64] = {};
  CHECK_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(a, host, 65, cudaMemcpyHostToDevice));
  CHECK_THAT(last_report(), ContainsSubstring(line_here(__LINE__ - 1)) &&
                                ContainsSubstring("ends 1 bytes behind the 64 allocated at"));
  CHECK_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(a.data() + 15, host, 8, cudaMemcpyDefault));
  CHECK_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(host, host, 8, cudaMemcpyDeviceToHost));
  CHECK_THAT(last_report(), ContainsSubstring("the source is not device memory"));
  CHECK_CUDA_ERROR(cudaErrorInvalidValue, cudaMemcpy(a, a, 8, cudaMemcpyHostToDevice));
  CHECK_CUDA_ERROR(cudaErrorInvalidValue, cudaMemset(host, 0, 8));
  CHECK_CUDA_ERROR(cudaErrorInvalidMemcpyDirection,
                   cudaMemcpy(a, host, 8, static_cast<cudaMemcpyKind>(9)));
  CHECK_CUDA_ERROR(cudaErrorInvalidValue,
                   cudaMemcpy2DAsync(a, 8, host, 16, 12, 1, cudaMemcpyHostToDevice, nullptr));
  CHECK_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(a.data() + 1));
  CHECK_THAT(last_report(), ContainsSubstring(line_here(__LINE__ - 1)));
  void* twice = nullptr;
  CHECK_CUDA(cudaMalloc(&twice, 8));
  CHECK_CUDA(cudaFree(twice));
  CHECK_CUDA_ERROR(cudaErrorInvalidValue, cudaFree(twice));
  cudaGetLastError();
}

TEST_CASE("Pinned memory is read when the copy runs, other memory at the call") {
  Emulator emulator("streams=deferred");
  OwnStream stream;
  Buffer<int> a(size_t{4});
  int* pinned = nullptr;
  CHECK_CUDA(cudaMallocHost(reinterpret_cast<void**>(&pinned), 4 * sizeof(int)));
  int pageable[4] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) pinned[i] = i + 1;

  CHECK_CUDA(cudaMemcpyAsync(a, pageable, a.bytes(), cudaMemcpyHostToDevice, stream));
  CHECK_CUDA_ERROR(cudaErrorNotReady, cudaStreamQuery(stream));
  pageable[0] = 9;
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(a.values() == std::vector<int>{1, 2, 3, 4});

  CHECK_CUDA(cudaMemsetAsync(a, 0, a.bytes(), stream));
  CHECK_CUDA(cudaMemcpyAsync(pinned, a, a.bytes(), cudaMemcpyDeviceToHost, stream));
#if !defined(__SANITIZE_THREAD__)  // which calls this a race, and rightly
  CHECK(pinned[1] == 2);           // not there yet
#endif
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK(pinned[1] == 0);
  CHECK_CUDA(cudaFreeHost(pinned));

  std::vector<int> own(4, 5);
  CHECK_CUDA(cudaHostRegister(own.data(), 16, 0));
  CHECK_CUDA_ERROR(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(own.data(), 16, 0));
  CHECK_CUDA(cudaMemcpyAsync(own.data(), a, a.bytes(), cudaMemcpyDeviceToHost, stream));
#if !defined(__SANITIZE_THREAD__)
  CHECK(own[0] == 5);
#endif
  CHECK_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeHost(own.data()));
  CHECK_CUDA(cudaHostUnregister(own.data()));  // waits
  CHECK(own[0] == 0);
  CHECK_CUDA_ERROR(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(own.data()));
  cudaGetLastError();
}

TEST_CASE("A pointer says what it points to") {
  Emulator emulator("devices=2");
  cudaPointerAttributes attributes{};
  CHECK_CUDA(cudaSetDevice(1));
  {
    Buffer<int> a(size_t{4});
    CHECK_CUDA(cudaSetDevice(0));
    CHECK_CUDA(cudaPointerGetAttributes(&attributes, a.data() + 3));
    CHECK(attributes.type == cudaMemoryTypeDevice);
    CHECK(attributes.device == 1);
  }
  void* pinned = nullptr;
  CHECK_CUDA(cudaHostAlloc(&pinned, 64, cudaHostAllocDefault));
  CHECK_CUDA(cudaPointerGetAttributes(&attributes, static_cast<char*>(pinned) + 63));
  CHECK(attributes.type == cudaMemoryTypeHost);
  CHECK_CUDA(cudaFreeHost(pinned));
  CHECK_CUDA(cudaPointerGetAttributes(&attributes, &attributes));
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
}

TEST_CASE("What is not freed is listed with the line that made it") {
  Emulator emulator;
  void *memory = nullptr, *pinned = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  const int first = __LINE__ + 1;
  CHECK_CUDA(cudaMalloc(&memory, 1234));
  CHECK_CUDA(cudaMallocHost(&pinned, 99));
  CHECK_CUDA(cudaStreamCreate(&stream));
  CHECK_CUDA(cudaEventCreate(&event));
  const std::string left = taper::emulator::live_objects();
  CHECK_THAT(left, ContainsSubstring("1234 bytes on cuda:0 made at"));
  CHECK_THAT(left, ContainsSubstring("99 bytes of pinned memory"));
  for (int i = 0; i < 4; ++i) CHECK_THAT(left, ContainsSubstring(line_here(first + i)));
  CHECK_CUDA(cudaEventDestroy(event));
  CHECK_CUDA(cudaStreamDestroy(stream));
  CHECK_CUDA(cudaFreeHost(pinned));
  CHECK_CUDA(cudaFree(memory));
  cudaEvent_t alike[3] = {};
  const int line = __LINE__ + 1;
  for (cudaEvent_t& made : alike) CHECK_CUDA(cudaEventCreate(&made));
  CHECK_THAT(taper::emulator::live_objects(), ContainsSubstring(line_here(line) + ", 3 times"));
  for (cudaEvent_t made : alike) CHECK_CUDA(cudaEventDestroy(made));
}
