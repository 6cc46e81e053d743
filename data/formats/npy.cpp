#include "taper/data/formats/npy.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/data/atomic_file.h"
#include "taper/data/detail/byte_order.h"
#include "taper/data/detail/file.h"
#include "taper/data/detail/host_copy.h"

namespace taper::data {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMostHeader = 1 << 20;
constexpr size_t kMostDims = 64;  // NumPy's own limit

struct Descr {
  const char* name;  // kind and bytes, without the byte order
  ScalarType dtype;
};
constexpr Descr kDescrs[] = {{"b1", kBool},  {"u1", kByte},  {"i1", kChar},
                             {"i2", kShort}, {"i4", kInt},   {"i8", kLong},
                             {"f2", kHalf},  {"f4", kFloat}, {"f8", kDouble}};

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Reads the one Python literal that the format allows: {'descr': '<f4', 'fortran_order': False,
// 'shape': (2, 3), }
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  Header parse() {
    Header header;
    bool seen[3] = {};
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      const int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0 || seen[which]) fail();
      seen[which] = true;
      if (which == 0) header.descr = descr();
      if (which == 1) header.fortran_order = boolean();
      if (which == 2) header.shape = tuple();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size() || !(seen[0] && seen[1] && seen[2])) fail();
    return header;
  }

 private:
  [[noreturn]] void fail() const {
    taper::detail::fail<Error>("'", path_,
                               "' has a damaged npy header: ", std::string(text_.substr(0, 200)));
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail();
  }
  std::string string() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) fail();
    const char quote = text_[at_++];
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail();
    const std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }
  std::string descr() {
    skip_space();
    TAPER_CHECK_TYPE(at_ >= text_.size() || text_[at_] != '[', "'", path_,
                     "' holds records, not numbers: save each field on its own");
    return string();
  }
  bool boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail();
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      skip_space();
      int64_t value = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc() || values.size() == kMostDims) fail();
      at_ = static_cast<size_t>(end - text_.data());
      values.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
};

struct Element {
  ScalarType dtype;
  bool swapped;
};

Element parse_descr(const std::string& descr, const std::string& path) {
  const char order = descr.empty() ? '?' : descr[0];
  if (order == '<' || order == '>' || order == '|' || order == '=') {
    for (const Descr& known : kDescrs) {
      if (descr.compare(1, std::string::npos, known.name) == 0) return {known.dtype, order == '>'};
    }
  }
  taper::detail::fail<TypeError>("'", path, "' holds elements of NumPy type '", descr,
                                 "'; Taper has bool, uint8, int8 to int64 and float16 to float64. "
                                 "Convert in NumPy with astype().");
}

}  // namespace

Tensor load_npy(const std::string& path) {
  const detail::InputFile file(path);
  unsigned char start[12] = {};
  TAPER_CHECK(file.size() >= 10, "'", path, "' is not an npy file: it has only ", file.size(),
              " bytes");
  file.read_at(start, 10, 0);
  TAPER_CHECK(std::memcmp(start, kMagic.data(), kMagic.size()) == 0, "'", path,
              "' is not an npy file: it does not begin with \\x93NUMPY");
  const int version = start[6];
  TAPER_CHECK(version >= 1 && version <= 3, "'", path, "' has npy format version ", version,
              "; 1 to 3 are known");
  size_t length = start[8] | size_t{start[9]} << 8;
  uint64_t offset = 10;
  if (version > 1) {
    file.read_at(start + 10, 2, 10);
    length |= size_t{start[10]} << 16 | size_t{start[11]} << 24;
    offset = 12;
  }
  TAPER_CHECK(length <= kMostHeader && offset + length <= file.size(), "'", path,
              "' is truncated or damaged: its header claims ", length, " bytes of a file of ",
              file.size());
  std::string text(length, '\0');
  file.read_at(text.data(), length, offset);
  offset += length;
  Header header = HeaderParser(text, path).parse();
  const Element element = parse_descr(header.descr, path);

  uint64_t bytes = 0;
  std::vector<int64_t>& shape = header.shape;
  const bool sane =
      detail::checked_bytes(shape.data(), shape.size(), element_size(element.dtype), bytes);
  TAPER_CHECK(sane && bytes == file.size() - offset, "'", path,
              "' is truncated or its header lies: the shape ", shape, " of ",
              dtype_name(element.dtype), sane ? " needs " : " needs more than ",
              sane ? bytes : uint64_t{1} << 63, " bytes, and there are ", file.size() - offset);

  // Fortran order is row-major order of the reversed dimensions.
  if (header.fortran_order) std::reverse(shape.begin(), shape.end());
  Tensor tensor = empty(shape, TensorOptions(element.dtype).device(kCPU));
  file.read_at(tensor.data_ptr(), bytes, offset);
  if (element.swapped) {
    detail::swap_bytes(tensor.data_ptr(), tensor.numel(), element_size(element.dtype));
  }
  detail::check_bools(tensor, path);
  if (!header.fortran_order || shape.size() < 2) return tensor;
  std::vector<int64_t> reversed(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    reversed[i] = static_cast<int64_t>(shape.size() - 1 - i);
  }
  return tensor.permute(reversed).contiguous();
}

void save_npy(const Tensor& tensor, const std::string& path) {
  TAPER_CHECK_TYPE(tensor.scalar_type() != kBFloat16, "save_npy: NumPy has no bfloat16 ('", path,
                   "'). Convert with .to(kFloat), or use save_safetensors.");
  const Tensor host = detail::host_copy(tensor);
  std::string descr;
  for (const Descr& known : kDescrs) {
    if (known.dtype == host.scalar_type()) descr = known.name;
  }
  std::string header = std::string("{'descr': '") + (host.element_size() == 1 ? '|' : '<') + descr +
                       "', 'fortran_order': False, 'shape': (";
  for (const int64_t size : host.sizes()) header += std::to_string(size) + ", ";
  if (host.dim() > 1) header.resize(header.size() - 2);
  if (host.dim() == 1) header.pop_back();
  header += "), }";
  // The data begin at a multiple of 64 bytes, and the header ends with a line feed.
  constexpr size_t kStart = 10, kAlignment = 64;
  header.append((2 * kAlignment - (kStart + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  const unsigned char start[4] = {1, 0, static_cast<unsigned char>(header.size() & 255),
                                  static_cast<unsigned char>(header.size() >> 8)};
  atomic_write_file(path, [&](FileWriter& file) {
    file.write(kMagic);
    file.write(start, sizeof start);
    file.write(header);
    file.write(host.data_ptr(), host.nbytes());
  });
}

}  // namespace taper::data
