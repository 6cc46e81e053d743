#pragma once

#include "c10/names.h"
#include "taper/core/cuda.h"
#include "taper/core/generator.h"

namespace at {

/// Switches for the CUDA libraries, and questions about what was built in. Those for TF32 do what
/// they say. The others keep what is set: results are deterministic as they are, and cuDNN's
/// algorithms are chosen without trying them.
class Context {
 public:
  bool userEnabledCuDNN() const { return user_enabled_cudnn_; }
  void setUserEnabledCuDNN(bool on) { user_enabled_cudnn_ = on; }
  bool benchmarkCuDNN() const { return benchmark_cudnn_; }
  void setBenchmarkCuDNN(bool on) { benchmark_cudnn_ = on; }
  bool deterministicCuDNN() const { return deterministic_cudnn_; }
  void setDeterministicCuDNN(bool on) { deterministic_cudnn_ = on; }
  bool allowTF32CuDNN() const { return ::taper::cuda::allow_tf32_cudnn(); }
  void setAllowTF32CuDNN(bool on) { ::taper::cuda::set_allow_tf32_cudnn(on); }
  bool allowTF32CuBLAS() const { return ::taper::cuda::allow_tf32_matmul(); }
  void setAllowTF32CuBLAS(bool on) { ::taper::cuda::set_allow_tf32_matmul(on); }
  bool deterministicAlgorithms() const { return deterministic_; }
  bool deterministicAlgorithmsWarnOnly() const { return deterministic_warn_only_; }
  void setDeterministicAlgorithms(bool on, bool warn_only = false) {
    deterministic_ = on;
    deterministic_warn_only_ = warn_only;
  }

  static bool hasCUDA() { return ::taper::cuda::is_available(); }
  static bool hasCuDNN() { return ::taper::cuda::cudnn_is_available(); }
  static bool hasMPS() { return false; }
  const ::taper::Generator& defaultGenerator(c10::Device device) const {
    return ::taper::detail::default_generator(::taper::detail::resolve(device));
  }

 private:
  bool user_enabled_cudnn_ = true, benchmark_cudnn_ = false, deterministic_cudnn_ = false;
  bool deterministic_ = false, deterministic_warn_only_ = false;
};

inline Context& globalContext() {
  static Context context;
  return context;
}

inline bool hasCUDA() { return Context::hasCUDA(); }
inline bool hasCuDNN() { return Context::hasCuDNN(); }
inline bool hasMPS() { return Context::hasMPS(); }
inline size_t getNumGPUs() { return static_cast<size_t>(::taper::cuda::device_count()); }

}  // namespace at
