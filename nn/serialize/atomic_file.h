#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "taper/core/macros.h"

namespace taper::serialize {

/// What `atomic_write_file` hands to its callback: appends bytes, throws `Error` when the disk
/// refuses.
class TAPER_API FileWriter {
 public:
  FileWriter(int descriptor, const std::string& path) : descriptor_(descriptor), path_(path) {}
  void write(const void* data, size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  size_t written() const { return written_; }

 private:
  int descriptor_;
  const std::string& path_;
  size_t written_ = 0;
};

/// Replaces the file `path`, whole or not at all: what `write` produces goes to `path`.tmp, reaches
/// the disk, and takes the name `path` in one step. If anything fails, or the process is killed,
/// the old file stays as it was. Throws `Error` that names the file and the system's reason.
TAPER_API void atomic_write_file(const std::string& path,
                                 const std::function<void(FileWriter&)>& write);
TAPER_API void atomic_write_file(const std::string& path, std::string_view contents);

}  // namespace taper::serialize
