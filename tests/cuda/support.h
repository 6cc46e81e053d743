#pragma once

#include <cuda_runtime_api.h>

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "catch.h"
#include "taper/core/half.h"
#include "taper/kernels/backend.h"
#include "taper/kernels/device.h"

// What the tests of CUDA kernels share: the same call of the contract goes to the CPU's table and
// to CUDA's, and the results are compared.

namespace cuda_tests {

using namespace taper;
using namespace taper::kernels;

const KernelTable& cuda_table();
const DeviceRuntime& cuda_runtime();
constexpr const char* kTestOp = "the op that a test stands for";
/// Its default one, for calls of kTestOp.
Stream cuda_stream(int device = 0);
/// Waits for that stream; the test fails where something went wrong on the device.
void wait();

/// Fails the test with the kernel's own words.
inline void require_ok(const Status& status) {
  INFO("code " << static_cast<int>(status.code) << ": " << (status.what ? status.what : "-"));
  REQUIRE(status.ok());
}

/// An array on both sides.
template <class T>
class Twin {
 public:
  explicit Twin(std::vector<T> values) : host_(std::move(values)) {
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, bytes() ? bytes() : 1) == cudaSuccess);
    device_ = static_cast<T*>(memory);
    upload();
  }
  explicit Twin(size_t count, T fill = T{}) : Twin(std::vector<T>(count, fill)) {}
  ~Twin() { cudaFree(device_); }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;

  /// The CPU's copy and the device's: outputs are written there by the two calls.
  T* host() { return host_.data(); }
  T* device() { return device_; }
  size_t size() const { return host_.size(); }
  size_t bytes() const { return host_.size() * sizeof(T); }
  /// Waits for what may still work on it.
  void upload() {
    wait();
    REQUIRE(cudaMemcpy(device_, host_.data(), bytes(), cudaMemcpyHostToDevice) == cudaSuccess);
  }
  /// What the device has now. Waits.
  std::vector<T> download() const {
    wait();
    std::vector<T> values(host_.size());
    REQUIRE(cudaMemcpy(values.data(), device_, bytes(), cudaMemcpyDeviceToHost) == cudaSuccess);
    return values;
  }

 private:
  std::vector<T> host_;  // not of bool: use uint8_t
  T* device_ = nullptr;
};

/// Bit for bit.
template <class T>
void check_equal(Twin<T>& twin) {
  const std::vector<T> got = twin.download();
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], twin.host() + i, sizeof(T)) == 0) continue;
    INFO("element " << i << " of " << got.size() << ": CUDA " << +static_cast<double>(got[i])
                    << ", CPU " << +static_cast<double>(twin.host()[i]));
    FAIL("CUDA and CPU differ");
  }
}

/// |a - b| <= absolute + relative * |b|; NaN equals NaN, infinities have to be the same.
template <class T>
void check_close(Twin<T>& twin, double relative, double absolute = 0) {
  const std::vector<T> got = twin.download();
  for (size_t i = 0; i < got.size(); ++i) {
    const double a = static_cast<double>(got[i]), b = static_cast<double>(twin.host()[i]);
    if (a == b || (a != a && b != b)) continue;
    const double difference = a > b ? a - b : b - a, size = b < 0 ? -b : b;
    if (difference <= absolute + relative * size && size <= 1.7976931348623157e308) continue;
    INFO("element " << i << " of " << got.size() << ": CUDA " << a << ", CPU " << b);
    FAIL("CUDA and CPU differ");
  }
}

}  // namespace cuda_tests
