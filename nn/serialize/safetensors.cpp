#include "taper/nn/serialize/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "taper/core/factories.h"
#include "taper/nn/serialize/atomic_file.h"
#include "taper/nn/serialize/file.h"
#include "taper/nn/serialize/host_copy.h"

// The format: 8 bytes with the length of the header, the header (JSON), then the tensors' bytes
// without gaps. https://github.com/huggingface/safetensors#format

namespace taper::serialize {

namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "safetensors is read and written for little-endian machines");

constexpr uint64_t kMostHeader = 100'000'000;  // that of the Python package
constexpr const char* kMetadata = "__metadata__";

struct TypeName {
  const char* name;
  ScalarType dtype;
};
// In the order in which tensors lie in a file, as the Python package writes them: wide elements
// first, so that each tensor is aligned.
constexpr TypeName kTypes[] = {
    {"I64", kLong}, {"F64", kDouble}, {"F32", kFloat}, {"I32", kInt}, {"BF16", kBFloat16},
    {"F16", kHalf}, {"I16", kShort},  {"I8", kChar},   {"U8", kByte}, {"BOOL", kBool}};

const TypeName& type_of(ScalarType dtype) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes),
                       [&](const TypeName& type) { return type.dtype == dtype; });
}

struct Entry {
  std::string name;
  ScalarType dtype;
  std::vector<int64_t> shape;
  uint64_t begin, end;
};

/// What is in memory, read like a file.
class InputMemory {
 public:
  InputMemory(const void* data, size_t size, const std::string& name)
      : data_(static_cast<const char*>(data)), size_(size), name_(name) {}
  const std::string& path() const { return name_; }
  uint64_t size() const { return size_; }
  void read_at(void* to, size_t count, uint64_t offset) const {
    if (count > 0) std::memcpy(to, data_ + offset, count);
  }

 private:
  const char* data_;
  size_t size_;
  const std::string& name_;
};

template <class Input>
class Reader {
 public:
  explicit Reader(Input input) : file_(std::move(input)) {}

  Safetensors read() {
    const Json header = parse_header();
    Safetensors result;
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.items()) {
      if (name == kMetadata) {
        result.metadata = metadata(value);
      } else {
        entries.push_back(entry(name, value));
      }
    }
    check_gapless(entries);
    for (const Entry& entry : entries) {
      Tensor tensor = empty(entry.shape, TensorOptions(entry.dtype).device(kCPU));
      file_.read_at(tensor.data_ptr(), entry.end - entry.begin, start_ + entry.begin);
      detail::check_bools(tensor, file_.path());
      result.tensors.emplace(entry.name, std::move(tensor));
    }
    return result;
  }

 private:
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    taper::detail::fail<Error>("'", file_.path(), "' is not a valid safetensors file: ", parts...);
  }

  Json parse_header() {
    unsigned char bytes[8];
    if (file_.size() < sizeof bytes) fail("it has only ", file_.size(), " bytes");
    file_.read_at(bytes, sizeof bytes, 0);
    uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | bytes[i];
    if (length > kMostHeader || length > file_.size() - sizeof bytes) {
      fail("its header claims ", length, " bytes of a file of ", file_.size(),
           ", so it is truncated or damaged");
    }
    start_ = sizeof bytes + length;
    std::string text(length, '\0');
    file_.read_at(text.data(), length, sizeof bytes);
    try {
      const Json header =
          Json::parse(text, [this](int depth, Json::parse_event_t event, Json& value) {
            return check_nesting(depth, event, value);
          });
      if (!header.is_object()) fail("its header is not a JSON object");
      return header;
    } catch (const Json::exception& error) {
      fail("its header is not JSON (", error.what(), ")");
    }
  }

  // Called as the text is parsed: the tree itself would silently keep the last of two equal names,
  // and deep nesting would take stack.
  bool check_nesting(int depth, Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    if (depth > 4) fail("its header is nested too deeply");
    if (event == Event::object_start) {
      keys_.resize(static_cast<size_t>(depth) + 1);
      keys_.back().clear();
    } else if (event == Event::key) {
      const std::string& key = value.get_ref<const std::string&>();
      if (!keys_[static_cast<size_t>(depth) - 1].insert(key).second) {
        fail("the name '", key, "' appears twice");
      }
    }
    return true;
  }

  StringMap metadata(const Json& value) const {
    StringMap result;
    if (!value.is_object()) fail("__metadata__ is not an object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail("the metadata '", key, "' is not a string");
      result.emplace(key, text.template get<std::string>());
    }
    return result;
  }

  const Json& member(const std::string& name, const Json& value, const char* key) const {
    if (!value.is_object()) fail("the entry of tensor '", name, "' is not an object");
    const auto found = value.find(key);
    if (found == value.end()) fail("tensor '", name, "' has no ", key);
    return *found;
  }

  int64_t whole(const std::string& name, const Json& value) const {
    // JSON numbers come as unsigned where they have no sign.
    if (!value.is_number_unsigned() || value.get<uint64_t>() > INT64_MAX) {
      fail("tensor '", name, "' has ", value.dump(), " where a size belongs");
    }
    return static_cast<int64_t>(value.get<uint64_t>());
  }

  Entry entry(const std::string& name, const Json& value) const {
    Entry entry{name, ScalarType::Undefined, {}, 0, 0};
    const Json& dtype = member(name, value, "dtype");
    for (const TypeName& type : kTypes) {
      if (dtype == type.name) entry.dtype = type.dtype;
    }
    TAPER_CHECK_TYPE(entry.dtype != ScalarType::Undefined, "'", file_.path(), "': tensor '", name,
                     "' has dtype ", dtype.dump(),
                     "; Taper reads BOOL, U8, I8, I16, I32, I64, F16, BF16, F32, F64");
    const Json& shape = member(name, value, "shape");
    if (!shape.is_array()) fail("tensor '", name, "' has a shape that is not a list");
    if (shape.size() > 64) fail("tensor '", name, "' has ", shape.size(), " dimensions");
    for (const Json& size : shape) entry.shape.push_back(whole(name, size));
    const Json& offsets = member(name, value, "data_offsets");
    if (!offsets.is_array() || offsets.size() != 2) {
      fail("tensor '", name, "' has data_offsets that are not a pair");
    }
    entry.begin = static_cast<uint64_t>(whole(name, offsets[0]));
    entry.end = static_cast<uint64_t>(whole(name, offsets[1]));
    uint64_t bytes = 0;
    if (!detail::checked_bytes(entry.shape.data(), entry.shape.size(), element_size(entry.dtype),
                               bytes)) {
      fail("tensor '", name, "' has the impossible shape ", entry.shape);
    }
    if (entry.begin > entry.end || entry.end - entry.begin != bytes) {
      fail("tensor '", name, "' of shape ", entry.shape, " and dtype ", type_of(entry.dtype).name,
           " needs ", bytes, " bytes, and its data_offsets are ", offsets.dump());
    }
    return entry;
  }

  // Every byte belongs to exactly one tensor: no overlap, no hole, nothing cut off, nothing left
  // over.
  void check_gapless(std::vector<Entry>& entries) const {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    const uint64_t available = file_.size() - start_;
    uint64_t at = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != at) {
        fail("tensor '", entry.name, "' begins at ", entry.begin,
             entry.begin < at ? " and overlaps what ends at " : " and leaves a hole after ", at);
      }
      at = entry.end;
    }
    if (at > available) {
      fail("it is truncated: its tensors need ", at, " bytes, and there are ", available);
    }
    if (at < available) fail("its tensors take ", at, " bytes, and there are ", available);
  }

  Input file_;
  uint64_t start_ = 0;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

Safetensors read_safetensors(const std::string& path) {
  return Reader(detail::InputFile(path)).read();
}

Safetensors read_safetensors(const void* data, size_t size, const std::string& name) {
  return Reader(InputMemory(data, size, name)).read();
}

TensorMap load_safetensors(const std::string& path) { return read_safetensors(path).tensors; }

namespace {

/// A file about to be written: everything that can be refused is refused here, before a byte goes
/// out.
class Writer {
 public:
  Writer(const TensorMap& tensors, const StringMap& metadata) {
    for (const auto& [name, tensor] : tensors) {
      TAPER_CHECK_VALUE(name != kMetadata, "save_safetensors: a tensor can't be named ", kMetadata);
      TAPER_CHECK_VALUE(tensor.defined(), "save_safetensors: tensor '", name, "' is undefined");
      items_.push_back({&name, &tensor, &type_of(tensor.scalar_type())});
    }
    std::stable_sort(items_.begin(), items_.end(),
                     [](const Item& a, const Item& b) { return a.type < b.type; });
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty()) header[kMetadata] = metadata;
    uint64_t offset = 0;
    for (const Item& item : items_) {
      const uint64_t end = offset + item.tensor->nbytes();
      header[*item.name] = {{"dtype", item.type->name},
                            {"shape", item.tensor->sizes().vec()},
                            {"data_offsets", {offset, end}}};
      offset = end;
    }
    try {
      text_ = header.dump();
    } catch (const Json::exception&) {
      taper::detail::fail<ValueError>("save_safetensors: a name or a metadata text is not UTF-8");
    }
    text_.append((8 - text_.size() % 8) % 8, ' ');
    TAPER_CHECK_VALUE(text_.size() <= kMostHeader, "save_safetensors: names and metadata take ",
                      text_.size(), " bytes; readers accept ", kMostHeader);
  }

  template <class Write>
  void write(const Write& write) const {
    const uint64_t length = text_.size();
    write(&length, sizeof length);
    write(text_.data(), text_.size());
    for (const Item& item : items_) {
      const Tensor host = detail::host_copy(*item.tensor);
      write(host.data_ptr(), host.nbytes());
    }
  }

 private:
  struct Item {
    const std::string* name;
    const Tensor* tensor;
    const TypeName* type;
  };
  std::vector<Item> items_;
  std::string text_;
};

}  // namespace

void save_safetensors(const TensorMap& tensors, const std::string& path,
                      const StringMap& metadata) {
  const Writer writer(tensors, metadata);
  atomic_write_file(path, [&](FileWriter& file) {
    writer.write([&](const void* data, size_t size) { file.write(data, size); });
  });
}

void write_safetensors(const TensorMap& tensors, const StringMap& metadata,
                       const std::function<void(const void*, size_t)>& write) {
  Writer(tensors, metadata).write(write);
}

}  // namespace taper::serialize
