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
  /// Opens a library that this one opens by name when it is first called: the one that lies beside
  /// it, else where the system's loader looks. `problem` says if there is none.
  void open_part(const char* name);
  /// Why it cannot be used; empty where it can.
  const std::string& problem() const { return problem_; }

 private:
  void* handle_ = nullptr;
  std::string problem_, file_;
};

/// Whose kernels an environment variable asks for: "own", Taper's; "auto" or nothing, the library's
/// where it is there; the library by its name, where it is missing an error. Any other value is
/// one, too.
class LibraryChoice {
 public:
  /// `problem` says why the library cannot be used, or nothing; it may open it, so it is asked only
  /// where it matters.
  LibraryChoice(const char* variable, const char* library, const std::string& (*problem)());

  /// Whether the library is to be called, or `check` to say why it cannot be.
  bool is_library() const;
  /// What is wrong with the variable's value, else with the library, else nothing.
  const std::string& problem() const { return wrong_.empty() ? problem_() : wrong_; }
  /// Before the library is called: an error unless it can serve.
  Status check() const;

 private:
  const char* variable_;
  std::string value_, wrong_;
  bool is_own_, is_needed_;
  const std::string& (*problem_)();
};

}  // namespace taper::kernels::cuda
