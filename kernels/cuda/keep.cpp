#include <deque>
#include <mutex>

#include "taper/kernels/cuda/message.h"

// Apart from message.cpp, so that who opens libraries without a runtime (library.cpp) can have it.

namespace taper::kernels::cuda {

const char* keep(std::string message) {
  constexpr size_t kKept = 512;
  static auto* const mutex = new std::mutex;
  static auto* const messages = new std::deque<std::string>;
  const std::lock_guard lock(*mutex);
  for (const std::string& known : *messages) {
    if (known == message) return known.c_str();
  }
  if (messages->size() == kKept) messages->pop_front();
  return messages->emplace_back(std::move(message)).c_str();
}

}  // namespace taper::kernels::cuda
