#include "taper/kernels/cuda/message.h"

#include <algorithm>
#include <mutex>
#include <set>

namespace taper::kernels::cuda {

const char* keep(std::string message) {
  static auto* const mutex = new std::mutex;
  static auto* const messages = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  return messages->insert(std::move(message)).first->c_str();
}

Status failed(const char* call, cudaError_t error) {
  cudaGetLastError();  // reported here; a later call must not report it again
  std::string name = call;
  name.resize(std::min(name.size(), name.find('(')));
  return {Code::kDeviceError, error, 0,
          keep(name + ": " + cudaGetErrorName(error) + ": " + cudaGetErrorString(error))};
}

}  // namespace taper::kernels::cuda
