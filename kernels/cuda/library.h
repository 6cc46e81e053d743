#pragma once

#include <initializer_list>
#include <string>

#include "taper/kernels/status.h"

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

/// Which kernels the environment variable asks for: "own", Taper's; "auto" or nothing, the
/// library's where it is there; the library by its name, where it is missing an error. Any other
/// value is one, too: kUnknown.
enum class Wish { kAuto, kOwn, kLibrary, kUnknown };
Wish wish_for(const char* variable, const char* library);
/// What is wrong with the variable's value where that is kUnknown.
std::string unknown_wish(const char* variable, const char* library);
/// Whether a library with this problem (empty: none) can serve as the variable asks.
Status check_wish(Wish wish, const char* variable, const char* library, const std::string& problem);

}  // namespace taper::kernels::cuda
