#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "taper/core/device.h"
#include "taper/core/rng_state.h"

namespace taper {

constexpr uint64_t default_rng_seed_val = 67280421310721;

/// A source of random numbers for one device. A handle: copies share the state. It gives PyTorch's
/// numbers for the same seed on that kind of device. Draws are not synchronised by themselves: take
/// `mutex()` where threads share one.
class TAPER_API Generator {
 public:
  explicit Generator(uint64_t seed = default_rng_seed_val, Device device = kCPU);

  bool defined() const { return static_cast<bool>(shared_); }
  void set_current_seed(uint64_t seed);
  uint64_t current_seed() const;
  /// Seeds from the system's entropy and returns that seed.
  uint64_t seed();
  /// The whole state as bytes, to be put back with `set_state_bytes`: those of
  /// `torch.get_rng_state()`, so that a stream begun here can go on in PyTorch, and the other way.
  std::vector<uint8_t> state_bytes() const;
  void set_state_bytes(const std::vector<uint8_t>& bytes);
  Generator clone() const;
  Device device() const;
  std::mutex& mutex() const;
  /// Of a generator of the CPU; others throw.
  CpuRngState& state() const;
  /// What kernels draw from: a CpuRngState or a CudaRngState.
  void* raw_state() const;
  bool operator==(const Generator& other) const { return shared_ == other.shared_; }

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

namespace detail {
/// The generator that ops use when none is given.
TAPER_API const Generator& getDefaultCPUGenerator();
TAPER_API Generator createCPUGenerator(uint64_t seed = default_rng_seed_val);
/// Of a device with its number. It starts from what manual_seed was last called with.
TAPER_API const Generator& getDefaultCUDAGenerator(DeviceIndex device);
inline const Generator& default_generator(Device device) {
  return device.is_cuda() ? getDefaultCUDAGenerator(device.index()) : getDefaultCPUGenerator();
}
/// Seeds one CUDA device's default generator, or (-1) all of them.
TAPER_API void seed_cuda_generators(uint64_t seed, DeviceIndex device);
}  // namespace detail

/// Names the CPU's generator in LibTorch's `make_generator<CPUGeneratorImpl>(seed)`.
struct CPUGeneratorImpl;

template <class Impl>
Generator make_generator(uint64_t seed = default_rng_seed_val) {
  static_assert(std::is_same_v<Impl, CPUGeneratorImpl>, "only the CPU's generator can be made");
  return detail::createCPUGenerator(seed);
}

/// Seeds the default generators of all devices.
TAPER_API void manual_seed(uint64_t seed);
TAPER_API uint64_t seed();
TAPER_API uint64_t initial_seed();

}  // namespace taper
