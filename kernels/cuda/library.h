#pragma once

#include <initializer_list>
#include <string>

namespace taper::kernels::cuda {

/// A shared library of NVIDIA's that is opened when first needed and stays open. It is sought by
/// its names, best first, where the system's loader looks, in the CUDA toolkit's folders, and in
/// those of the packages nvidia-* that pip installs.
class Library {
 public:
  explicit Library(std::initializer_list<const char*> names);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool is_open() const { return handle_ != nullptr; }
  /// Null if there is none; then `problem` says so.
  void* symbol(const char* name);
  /// Why it cannot be used; empty where it can.
  const std::string& problem() const { return problem_; }

 private:
  void* handle_ = nullptr;
  std::string problem_;
};

/// Whether the environment variable asks for Taper's own kernels ("own").
bool asks_for_own(const char* variable);

}  // namespace taper::kernels::cuda
