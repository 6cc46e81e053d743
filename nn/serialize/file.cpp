#include "taper/nn/serialize/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <system_error>

#include "taper/core/error.h"

namespace taper::serialize::detail {

Descriptor::~Descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void fail_file(const char* what, const std::string& path, int error) {
  taper::detail::fail<Error>(what, " '", path, "': ", std::generic_category().message(error));
}

InputFile::InputFile(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_.get() < 0) fail_file("cannot read", path, errno);
  struct stat status;
  if (::fstat(descriptor_.get(), &status) != 0) fail_file("cannot read", path, errno);
  if (S_ISDIR(status.st_mode)) fail_file("cannot read", path, EISDIR);
  TAPER_CHECK(S_ISREG(status.st_mode), "cannot read '", path, "': it is not a regular file");
  size_ = static_cast<uint64_t>(status.st_size);
}

void InputFile::read_at(void* to, size_t count, uint64_t offset) const {
  char* next = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t n = ::pread(descriptor_.get(), next, count, static_cast<off_t>(offset));
    if (n < 0) {
      if (errno == EINTR) continue;
      fail_file("cannot read", path_, errno);
    }
    TAPER_CHECK(n > 0, "cannot read '", path_, "': it ends before the ", count,
                " bytes expected at offset ", offset);
    next += n;
    count -= static_cast<size_t>(n);
    offset += static_cast<uint64_t>(n);
  }
}

bool checked_bytes(const int64_t* sizes, size_t rank, size_t element, uint64_t& bytes) {
  // Zeros first: a shape such as [0, 2^62, 2^62] is empty, but its other sizes must still be sane.
  uint64_t product = element;
  bool empty = false;
  for (size_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0) return false;
    if (sizes[i] == 0) {
      empty = true;
      continue;
    }
    if (__builtin_mul_overflow(product, static_cast<uint64_t>(sizes[i]), &product)) return false;
    if (product > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
  }
  bytes = empty ? 0 : product;
  return true;
}

}  // namespace taper::serialize::detail
