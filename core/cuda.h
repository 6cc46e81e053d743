#pragma once

#include <cstdint>
#include <string>

#include "taper/core/device.h"

// CUDA devices: which there are, which is current, waiting for them. Streams and events are in
// cuda_stream.h, memory in cuda_memory.h. The library with the kernels is loaded by the first of
// these calls, or the first tensor, that needs a device; docs/cuda.md says where it is sought, and
// what TAPER_CUDA changes.

namespace taper::cuda {

/// Whether tensors can live on a CUDA device. Never throws.
TAPER_API bool is_available();
/// Number of CUDA devices, 16 at most; 0 where none can be used. Never throws.
TAPER_API DeviceIndex device_count();
/// Why is_available() is false, a sentence without its full stop; empty when it is true.
TAPER_API std::string why_not_available();
/// Whether convolutions go through cuDNN.
TAPER_API bool cudnn_is_available();
/// Whether the devices are the emulator's: the same kernels, run by this machine's processor.
TAPER_API bool is_emulated();

/// The device that "cuda" without a number means on this thread; 0 at first. Throws where there is
/// none.
TAPER_API DeviceIndex current_device();
/// Throws for an index that does not exist.
TAPER_API void set_device(DeviceIndex device);

struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability: 9, 0 for an H100
  int64_t total_memory = 0;  ///< bytes
  int multi_processor_count = 0;
  int warp_size = 0;
  int max_threads_per_block = 0;
  int max_threads_per_multi_processor = 0;
  int64_t shared_memory_per_block = 0;  ///< bytes
  int64_t shared_memory_per_block_optin = 0;
  int64_t shared_memory_per_multiprocessor = 0;
  int regs_per_multiprocessor = 0;
  int64_t L2_cache_size = 0;  ///< bytes
  bool is_integrated = false;
};
/// -1: the current device.
TAPER_API DeviceProperties get_device_properties(DeviceIndex device = -1);
TAPER_API std::string get_device_name(DeviceIndex device = -1);
/// (9, 0) for an H100.
TAPER_API std::pair<int, int> get_device_capability(DeviceIndex device = -1);
TAPER_API bool can_device_access_peer(DeviceIndex device, DeviceIndex peer);

/// As CUDA writes them: 13000 is 13.0; 0 where a library is not there. Throws without a device.
struct Versions {
  int driver = 0, runtime = 0, cublas = 0, cudnn = 0;
  std::string cublas_problem, cudnn_problem;  ///< why it is 0, and where it was sought
};
TAPER_API Versions versions();

/// Whether matrix products of float may round their factors to TF32 (10 bits of fraction), where a
/// device is faster so: `torch.backends.cuda.matmul.allow_tf32`. False at first.
TAPER_API bool allow_tf32_matmul();
TAPER_API void set_allow_tf32_matmul(bool allow);
/// The same for cuDNN's convolutions: `torch.backends.cudnn.allow_tf32`. True at first.
TAPER_API bool allow_tf32_cudnn();
TAPER_API void set_allow_tf32_cudnn(bool allow);

/// Waits for all work of a device (-1: the current one). Errors of kernels surface here: an index
/// out of range that a kernel found is thrown as IndexError with the op's name.
TAPER_API void synchronize(int64_t device_index = -1);

/// Seeds the generator of the current device, or of all; before a device is used, what it will
/// start from.
TAPER_API void manual_seed(uint64_t seed);
TAPER_API void manual_seed_all(uint64_t seed);

/// The current device, while this lives: `cuda::DeviceGuard guard(1);`. Throws for a device that is
/// not CUDA's.
class TAPER_API DeviceGuard {
 public:
  explicit DeviceGuard(DeviceIndex device);
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

  /// Another one from here on; the end of the guard still brings back the first.
  void set_index(DeviceIndex device);
  void set_device(Device device);
  void reset_device(Device device) { set_device(device); }
  /// What was current before the guard, and what it has made so.
  Device original_device() const { return Device(kCUDA, before_); }
  Device current_device() const { return Device(kCUDA, now_); }

 private:
  DeviceIndex before_, now_;
};

}  // namespace taper::cuda

namespace taper::detail {

/// The device with its number: "cuda" becomes the current one. Throws for one that does not exist.
TAPER_API TAPER_COLD Device resolve_cuda(Device device);
/// The host has no number: "cpu:0" is "cpu".
inline Device resolve(Device device) {
  return device.is_cuda() ? resolve_cuda(device) : Device(device.type());
}

}  // namespace taper::detail
