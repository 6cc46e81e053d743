#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

// TAPER_EMULATOR=devices=2,memory=512M,seed=7,... ; docs/emulator.md has the table.

namespace taper::emulator {

/// How device memory is kept from the host.
enum class Protection { kAuto, kKey, kPages, kOff };

/// The `at`-th time that `what` happens, it fails: a call by its name, or "device", which is lost
/// with the `at`-th piece of work.
struct Failure {
  std::string what;
  int64_t at;
  int status;  ///< a cudaError_t, or what cuBLAS or cuDNN return; 0: the call's usual one
};

/// The name that calls are counted under: cuBLAS exports some with a version, `cublasCreate_v2`.
std::string counted_name(std::string call);

struct Options {
  int devices = 1;
  size_t memory = size_t{4} << 30;   ///< of each device
  int capability = 90;               ///< sm_90
  int multiprocessors = 4;           ///< that devices report
  uint64_t seed = 0;                 ///< 0: everything in order
  bool deferred = false;             ///< work waits until something waits for it
  int threads = 0;                   ///< of the system, for large grids; 0: up to 2
  size_t stack = 64 << 10;           ///< of a CUDA thread
  bool fill = true;                  ///< memory nobody wrote is NaN
  bool uninitialized = false;        ///< arithmetic on such memory is a fault
  bool kernels = true;               ///< off: neither they nor libraries' calls do their work
  std::shared_ptr<std::FILE> trace;  ///< takes a line for each piece of work
  bool peers = true;                 ///< devices reach each other's memory
  bool libraries = true;             ///< cuBLAS and cuDNN are there
  bool leaks = false;                ///< at exit, lists what was not freed
  Protection protect = Protection::kAuto;
  std::vector<Failure> fail;
};

/// Throws std::invalid_argument, with a text that says what is wrong and what is allowed.
Options parse_options(const std::string& text);

}  // namespace taper::emulator
