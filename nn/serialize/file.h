#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "taper/core/macros.h"

// Files as everything that reads them needs them: opened, measured, read at an offset, with errors
// that name them.

namespace taper::serialize::detail {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(other.descriptor_) {
    other.descriptor_ = -1;
  }
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Throws `Error`: "cannot read 'x': No such file or directory".
[[noreturn]] void fail_file(const char* what, const std::string& path, int error);

/// A regular file opened for reading, with its size.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_.get(); }
  uint64_t size() const { return size_; }
  /// Reads exactly `count` bytes at `offset`. Throws if the file has become shorter.
  void read_at(void* to, size_t count, uint64_t offset) const;

 private:
  std::string path_;
  Descriptor descriptor_;
  uint64_t size_ = 0;
};

/// Bytes that dimensions need in elements of `element` bytes; false if a dimension is negative or
/// the product does not fit.
bool checked_bytes(const int64_t* sizes, size_t rank, size_t element, uint64_t& bytes);

}  // namespace taper::serialize::detail
