#include "taper/data/formats/idx.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "taper/core/factories.h"
#include "taper/data/detail/byte_order.h"
#include "taper/data/detail/file.h"

namespace taper::data {

namespace {

// zlib's reader: passes plain files through, checks length and checksum of gzipped ones.
class GzipReader {
 public:
  explicit GzipReader(const detail::InputFile& file) : path_(file.path()) {
    const int descriptor = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) detail::fail_file("cannot read", path_, errno);
    file_ = gzdopen(descriptor, "rb");
    if (!file_) {
      ::close(descriptor);
      taper::detail::fail<OutOfMemoryError>("cannot read '", path_, "': out of memory");
    }
    gzbuffer(file_, 1 << 17);
  }
  ~GzipReader() { gzclose_r(file_); }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Reads up to `count` bytes; fewer only at the end of the data.
  size_t read(void* to, size_t count) {
    constexpr size_t kMost = size_t{1} << 30;
    char* next = static_cast<char*>(to);
    size_t total = 0;
    while (total < count) {
      const int n =
          gzread(file_, next + total, static_cast<unsigned>(std::min(kMost, count - total)));
      int code = Z_OK;
      const char* message = gzerror(file_, &code);
      TAPER_CHECK(code == Z_OK, "cannot read '", path_,
                  "': ", code == Z_BUF_ERROR ? "the gzip data is truncated" : message);
      if (n <= 0) break;
      total += static_cast<size_t>(n);
    }
    return total;
  }

  bool is_plain() { return gzdirect(file_) != 0; }

 private:
  const std::string& path_;
  gzFile file_ = nullptr;
};

ScalarType dtype_of_code(int code, const std::string& path) {
  switch (code) {
    case 0x08:
      return kByte;
    case 0x09:
      return kChar;
    case 0x0B:
      return kShort;
    case 0x0C:
      return kInt;
    case 0x0D:
      return kFloat;
    case 0x0E:
      return kDouble;
    default:
      taper::detail::fail<Error>("'", path, "' is not an IDX file: its header has element type ",
                                 code, ", not one of 8, 9, 11, 12, 13, 14");
  }
}

}  // namespace

Tensor load_idx(const std::string& path) {
  const detail::InputFile file(path);
  GzipReader reader(file);
  unsigned char magic[4];
  TAPER_CHECK(reader.read(magic, 4) == 4 && magic[0] == 0 && magic[1] == 0, "'", path,
              "' is not an IDX file: it does not begin with the bytes 0 0 TYPE RANK");
  const ScalarType dtype = dtype_of_code(magic[2], path);
  std::vector<int64_t> sizes(magic[3]);
  for (int64_t& size : sizes) {
    unsigned char bytes[4];
    TAPER_CHECK(reader.read(bytes, 4) == 4, "'", path, "' is truncated: its header announces ",
                sizes.size(), " sizes and ends before them");
    size = static_cast<int64_t>(uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 |
                                uint32_t{bytes[2]} << 8 | bytes[3]);
  }

  // Believe no size that the file can't hold: deflate packs at most 1,032 bytes into one.
  uint64_t wanted = 0;
  const uint64_t most = reader.is_plain() ? file.size() : file.size() * 1032;
  TAPER_CHECK(detail::checked_bytes(sizes.data(), sizes.size(), element_size(dtype), wanted) &&
                  wanted <= most,
              "'", path, "' is truncated or its header lies: it announces the shape ", sizes,
              " of ", dtype_name(dtype), ", more than a file of ", file.size(), " bytes can hold");
  Tensor tensor = empty(sizes, TensorOptions(dtype).device(kCPU));
  const size_t got = reader.read(tensor.data_ptr(), wanted);
  TAPER_CHECK(got == wanted, "'", path, "' is truncated: the shape ", sizes, " of ",
              dtype_name(dtype), " needs ", wanted, " bytes, and there are ", got);
  char extra;
  TAPER_CHECK(reader.read(&extra, 1) == 0, "'", path,
              "' is longer than its header says: the shape ", sizes, " of ", dtype_name(dtype),
              " takes ", wanted, " bytes, and more follow");
  detail::swap_bytes(tensor.data_ptr(), tensor.numel(), element_size(dtype));
  return tensor;
}

}  // namespace taper::data
