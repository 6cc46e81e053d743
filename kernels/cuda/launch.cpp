#include "taper/kernels/cuda/device/launch.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "taper/kernels/cuda/kernel_name.h"
#include "taper/kernels/cuda/message.h"

namespace taper::kernels::cuda {

namespace {

// While a stream is captured nothing runs, and waiting for it would be an error.
cudaError_t wait_for(cudaStream_t stream) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &capture);
  if (error != cudaSuccess || capture != cudaStreamCaptureStatusNone) return error;
  return cudaStreamSynchronize(stream);
}

// Null where there is none: the emulator finds none in a library that was stripped.
const char* symbol_of(const void* kernel) {
  const char* symbol = nullptr;
  if (cudaFuncGetName(&symbol, kernel) == cudaSuccess) return symbol;
  cudaGetLastError();
  return nullptr;
}

struct Launch {
  const void* kernel;
  const char* file;
  int line;
};

struct Ring {
  std::mutex mutex;
  std::array<Launch, 8> launches{};
  uint64_t count = 0;
  // Asked for when a kernel is first launched: of a device that has trapped it may be too late.
  std::unordered_map<const void*, const char*> symbols;
};
Ring& ring() {
  static auto* const made = new Ring;
  return *made;
}

void remember(const Launch& launch) {
  Ring& r = ring();
  const std::lock_guard lock(r.mutex);
  r.launches[r.count++ % r.launches.size()] = launch;
  const auto [known, is_new] = r.symbols.try_emplace(launch.kernel);
  if (is_new) known->second = symbol_of(launch.kernel);
}

std::string to_text(const Launch& launch) {
  Ring& r = ring();
  const std::lock_guard lock(r.mutex);
  const auto known = r.symbols.find(launch.kernel);
  const char* const symbol = known == r.symbols.end() ? nullptr : known->second;
  return (symbol ? kernel_name(symbol) : "a kernel") + " at " + launch.file + ":" +
         std::to_string(launch.line);
}

}  // namespace

bool launches_block() {
  static const bool blocking = [] {
    const char* const value = std::getenv("CUDA_LAUNCH_BLOCKING");
    return value && *value && *value != '0';
  }();
  return blocking;
}

std::string recent_launches() {
  std::vector<Launch> latest;
  {
    Ring& r = ring();
    const std::lock_guard lock(r.mutex);
    for (uint64_t i = 1; i <= r.launches.size() && i <= r.count; ++i) {
      latest.push_back(r.launches[(r.count - i) % r.launches.size()]);
    }
  }
  std::string text;
  for (const Launch& launch : latest) text += "  " + to_text(launch) + "\n";
  return text;
}

Status finish_launch(cudaError_t error, const LaunchStream& stream, const void* kernel) {
  const Launch launch{kernel, stream.file, stream.line};
  remember(launch);
  if (error == cudaSuccess && launches_block()) error = wait_for(stream.handle);
  if (error == cudaSuccess) return {};
  return failed_at("launch of " + to_text(launch), error);
}

}  // namespace taper::kernels::cuda
