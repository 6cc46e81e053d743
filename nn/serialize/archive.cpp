#include "taper/nn/serialize/archive.h"

#include <istream>
#include <iterator>
#include <ostream>
#include <set>

#include "taper/autograd/grad_mode.h"
#include "taper/core/ops.h"
#include "taper/nn/serialize/safetensors.h"
#include "taper/nn/serialize/value_text.h"

namespace taper::serialize {

namespace {

constexpr const char* kValuePrefix = "taper.";
constexpr const char* kOnly = "0";  // LibTorch's name for a tensor saved alone

}  // namespace

// ---- Writing.

void OutputArchive::check_new(const std::string& key) const {
  TAPER_CHECK_VALUE(!key.empty(), "archive: a name must not be empty");
  TAPER_CHECK_VALUE(!tensors_.count(key) && !values_.count(key), "archive: '", key,
                    "' is written twice");
}

void OutputArchive::write(const std::string& key, const Tensor& tensor, bool) {
  check_new(key);
  if (tensor.defined()) {
    tensors_.emplace(key, tensor.detach());
  } else {
    values_.emplace(key, detail::value_to_text(key, {}));
  }
}

void OutputArchive::write(const std::string& key, const IValue& value) {
  if (value.isTensor()) return write(key, value.toTensor());
  if (value.isTensorList()) {
    OutputArchive list;
    list << value.toTensorVector();
    return write(key, list);
  }
  check_new(key);
  values_.emplace(key, detail::value_to_text(key, value));
}

void OutputArchive::write(const std::string& key, OutputArchive& nested) {
  for (const auto& [name, tensor] : nested.tensors_) {
    check_new(key + "." + name);
    tensors_.emplace(key + "." + name, tensor);
  }
  for (const auto& [name, text] : nested.values_) {
    check_new(key + "." + name);
    values_.emplace(key + "." + name, text);
  }
}

std::map<std::string, std::string> OutputArchive::metadata() const {
  StringMap metadata{{"format", "pt"}};  // what Python's loaders look for
  for (const auto& [key, text] : values_) metadata.emplace(kValuePrefix + key, text);
  return metadata;
}

void OutputArchive::save_to(const std::string& filename) const {
  save_safetensors(tensors_, filename, metadata());
}

void OutputArchive::save_to(const std::function<size_t(const void*, size_t)>& write) const {
  write_safetensors(tensors_, metadata(), [&](const void* data, size_t size) {
    TAPER_CHECK(write(data, size) == size, "archive: the writer took less than ", size, " bytes");
  });
}

void OutputArchive::save_to(std::ostream& stream) const {
  save_to([&](const void* data, size_t size) {
    stream.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
    return stream ? size : size_t{0};
  });
  TAPER_CHECK(stream.flush(), "archive: the stream refused what was written");
}

// ---- Reading.

struct InputArchive::Content {
  TensorMap tensors;
  StringMap values;
  std::string source = "an empty archive";

  // Of DeferredReads, while one lives.
  struct Read {
    Tensor to, from;
  };
  bool deferred = false;
  std::vector<Read> reads;
  std::set<std::string> asked;
  std::vector<std::string> missing, misfits;
};

InputArchive::InputArchive() : content_(std::make_shared<Content>()) {}

const std::string& InputArchive::source() const { return content_->source; }

void InputArchive::fail_missing(const std::string& key, const char* what) const {
  taper::detail::fail<Error>("there is no ", what, " '", full(key), "' in ", source());
}

bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool) {
  Content& content = *content_;
  const std::string name = full(key);
  const auto found = content.tensors.find(name);
  if (content.deferred) content.asked.insert(name);
  if (found == content.tensors.end()) {
    const auto value = content.values.find(name);
    if (value == content.values.end()) return false;
    TAPER_CHECK(detail::value_from_text(name, value->second).isNone(), "'", name, "' in ", source(),
                " is a value, not a tensor");
    if (!content.deferred) tensor = Tensor();
    return true;
  }
  const Tensor& saved = found->second;
  if (!tensor.defined()) {
    tensor = saved;
    return true;
  }
  if (content.deferred) {
    if (tensor.sizes().equals(saved.sizes())) {
      content.reads.push_back({tensor, saved});
    } else {
      taper::detail::MessageBuilder message;
      message << name << ": copying a param with shape " << saved.sizes()
              << " from checkpoint, the shape in current model is " << tensor.sizes();
      content.misfits.push_back(message.take());
    }
    return true;
  }
  const NoGradGuard quiet;
  tensor.set_data(saved.to(tensor.device()));
  return true;
}

void InputArchive::read(const std::string& key, Tensor& tensor, bool is_buffer) {
  if (try_read(key, tensor, is_buffer)) return;
  if (!content_->deferred || !tensor.defined()) fail_missing(key, "tensor");
  content_->missing.push_back(full(key));
}

bool InputArchive::try_read(const std::string& key, IValue& value) {
  const auto found = content_->values.find(full(key));
  if (found != content_->values.end()) {
    value = detail::value_from_text(found->first, found->second);
    return true;
  }
  Tensor tensor;
  if (try_read(key, tensor)) {
    value = std::move(tensor);
    return true;
  }
  InputArchive list;
  IValue size;
  if (!try_read(key, list) || !list.try_read("size", size)) return false;
  std::vector<Tensor> tensors;
  list >> tensors;
  value = std::move(tensors);
  return true;
}

void InputArchive::read(const std::string& key, IValue& value) {
  if (!try_read(key, value)) fail_missing(key, "value");
}

InputArchive InputArchive::nested(const std::string& key) const {
  InputArchive archive(*this);
  archive.prefix_ = full(key) + ".";
  return archive;
}

bool InputArchive::try_read(const std::string& key, InputArchive& nested) {
  InputArchive archive = this->nested(key);
  const auto has_names = [&](const auto& names) {
    const auto first = names.lower_bound(archive.prefix_);
    return first != names.end() && first->first.starts_with(archive.prefix_);
  };
  if (!has_names(content_->tensors) && !has_names(content_->values)) return false;
  nested = std::move(archive);
  return true;
}

void InputArchive::read(const std::string& key, InputArchive& nested) {
  if (!try_read(key, nested)) fail_missing(key, "archive");
}

std::vector<std::string> InputArchive::keys() const {
  std::set<std::string> names;
  const auto collect = [&](const auto& entries) {
    for (auto at = entries.lower_bound(prefix_);
         at != entries.end() && at->first.starts_with(prefix_); ++at) {
      const size_t end = at->first.find('.', prefix_.size());
      names.insert(at->first.substr(prefix_.size(), end - prefix_.size()));
    }
  };
  collect(content_->tensors);
  collect(content_->values);
  return {names.begin(), names.end()};
}

namespace {

template <class Content>
std::shared_ptr<Content> content_of(Safetensors file, const std::string& source,
                                    const std::optional<Device>& device) {
  auto content = std::make_shared<Content>();
  content->source = source;
  content->tensors = std::move(file.tensors);
  if (device) {
    for (auto& [name, tensor] : content->tensors) tensor = tensor.to(*device);
  }
  const std::string prefix = kValuePrefix;
  for (auto& [key, text] : file.metadata) {
    if (key.starts_with(prefix))
      content->values.emplace(key.substr(prefix.size()), std::move(text));
  }
  return content;
}

}  // namespace

void InputArchive::load_from(const std::string& filename, std::optional<Device> device) {
  content_ = content_of<Content>(read_safetensors(filename), "'" + filename + "'", device);
  prefix_.clear();
}

void InputArchive::load_from(const char* data, size_t size, std::optional<Device> device) {
  const std::string name = "(memory)";
  content_ = content_of<Content>(read_safetensors(data, size, name), name, device);
  prefix_.clear();
}

void InputArchive::load_from(std::istream& stream, std::optional<Device> device) {
  TAPER_CHECK(stream.good(), "archive: the stream cannot be read");
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  load_from(bytes.data(), bytes.size(), device);
}

// ---- All or nothing.

DeferredReads::DeferredReads(InputArchive& archive)
    : content_(archive.content_), prefix_(archive.prefix_), outermost_(!content_->deferred) {
  content_->deferred = true;
}

DeferredReads::~DeferredReads() {
  if (!outermost_) return;
  content_->deferred = false;
  content_->reads.clear();
  content_->asked.clear();
  content_->missing.clear();
  content_->misfits.clear();
}

void DeferredReads::commit(const std::string& what, bool strict) {
  if (!outermost_) return;
  InputArchive::Content& content = *content_;
  std::string errors;
  for (const std::string& misfit : content.misfits) {
    errors += "\n\tsize mismatch for " + misfit + ".";
  }
  const auto list = [&](const char* title, const std::vector<std::string>& names) {
    if (names.empty()) return;
    errors += std::string("\n\t") + title + " key(s): ";
    for (size_t i = 0; i < names.size(); ++i) errors += (i ? ", \"" : "\"") + names[i] + "\"";
    errors += ".";
  };
  list("Missing", content.missing);
  std::vector<std::string> unexpected;
  for (const auto& [name, tensor] : content.tensors) {
    if (strict && name.starts_with(prefix_) && !content.asked.count(name)) {
      unexpected.push_back(name);
    }
  }
  list("Unexpected", unexpected);
  TAPER_CHECK(errors.empty(), "Error(s) in loading ", what, " from ", content.source, ":", errors);
  const NoGradGuard quiet;
  for (InputArchive::Content::Read& read : content.reads) read.to.copy_(read.from);
}

// ---- Tensors and values alone.

OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor) {
  archive.write(kOnly, tensor);
  return archive;
}

InputArchive& operator>>(InputArchive& archive, Tensor& tensor) {
  // A file from elsewhere may hold one tensor under a name of its own.
  const std::vector<std::string> keys = archive.keys();
  archive.read(keys.size() == 1 ? keys[0] : kOnly, tensor);
  return archive;
}

OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors) {
  archive.write("size", IValue(tensors.size()));
  for (size_t i = 0; i < tensors.size(); ++i) archive.write(std::to_string(i), tensors[i]);
  return archive;
}

InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors) {
  IValue size;
  archive.read("size", size);
  std::vector<Tensor> loaded;
  for (int64_t i = 0; i < size.toInt(); ++i) {
    loaded.emplace_back();
    archive.read(std::to_string(i), loaded.back());
  }
  tensors = std::move(loaded);
  return archive;
}

OutputArchive& operator<<(OutputArchive& archive, const IValue& value) {
  archive.write(kOnly, value);
  return archive;
}

InputArchive& operator>>(InputArchive& archive, IValue& value) {
  archive.read(kOnly, value);
  return archive;
}

}  // namespace taper::serialize
