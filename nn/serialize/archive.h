#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "taper/core/ivalue.h"

// Archives: tensors and values by name, in a tree of nested archives whose names are joined with
// dots. On disk an archive is a safetensors file: the tensors under their full names, the values as
// JSON in its metadata under "taper.<name>". The Python package reads the tensors, and what it
// writes can be loaded here.

namespace taper::serialize {

/// Collects what is to be saved.
class TAPER_API OutputArchive {
 public:
  OutputArchive() = default;
  OutputArchive(OutputArchive&&) = default;
  OutputArchive& operator=(OutputArchive&&) = default;
  OutputArchive(const OutputArchive&) = delete;
  OutputArchive& operator=(const OutputArchive&) = delete;

  /// A name may be used once. An undefined tensor is written as such.
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  void write(const std::string& key, const IValue& value);
  void write(const std::string& key, OutputArchive& nested);

  /// Writes the file whole or not at all: see atomic_file.h.
  void save_to(const std::string& filename) const;
  void save_to(std::ostream& stream) const;
  void save_to(const std::function<size_t(const void*, size_t)>& write) const;
  bool is_empty() const { return tensors_.empty() && values_.empty(); }

 private:
  std::map<std::string, std::string> metadata() const;
  void check_new(const std::string& key) const;

  std::map<std::string, Tensor> tensors_;
  std::map<std::string, std::string> values_;  // as JSON
};

/// What was saved. Copies, and the nested archives read from it, share one content.
class TAPER_API InputArchive {
 public:
  InputArchive();

  /// Throws where there is no such name, or something of another kind. A defined tensor takes over
  /// the saved data, whatever its shape and dtype, and stays on its device.
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  void read(const std::string& key, IValue& value);
  void read(const std::string& key, InputArchive& nested);
  /// False where there is no such name.
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, IValue& value);
  bool try_read(const std::string& key, InputArchive& nested);

  /// Replaces the content. A file that is truncated or damaged is refused whole. With `device`,
  /// tensors are moved there.
  void load_from(const std::string& filename, std::optional<Device> device = std::nullopt);
  void load_from(std::istream& stream, std::optional<Device> device = std::nullopt);
  void load_from(const char* data, size_t size, std::optional<Device> device = std::nullopt);

  /// The names at this level.
  std::vector<std::string> keys() const;
  /// The archive under a name, empty where there is none.
  InputArchive nested(const std::string& key) const;
  /// The file it came from, for messages.
  const std::string& source() const;

 private:
  friend class DeferredReads;
  struct Content;
  std::string full(const std::string& key) const { return prefix_ + key; }
  [[noreturn]] void fail_missing(const std::string& key, const char* what) const;

  std::shared_ptr<Content> content_;
  std::string prefix_;
};

/// Makes the loading of a module all or nothing: while it lives, what the archive would read into
/// defined tensors is only checked, and `commit` writes all of it, or throws one error that lists
/// everything that does not fit. Nested ones leave it to the outermost.
class DeferredReads {
 public:
  explicit DeferredReads(InputArchive& archive);
  ~DeferredReads();
  DeferredReads(const DeferredReads&) = delete;
  DeferredReads& operator=(const DeferredReads&) = delete;
  /// With `strict`, tensors of the archive that nobody asked for are an error.
  void commit(const std::string& what, bool strict);

 private:
  std::shared_ptr<InputArchive::Content> content_;
  std::string prefix_;
  bool outermost_;
};

TAPER_API OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor);
TAPER_API InputArchive& operator>>(InputArchive& archive, Tensor& tensor);
TAPER_API OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors);
TAPER_API InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors);
TAPER_API OutputArchive& operator<<(OutputArchive& archive, const IValue& value);
TAPER_API InputArchive& operator>>(InputArchive& archive, IValue& value);

}  // namespace taper::serialize

namespace taper {

/// Saves a tensor, a list of them, a module or an optimizer: `save(net, "net.safetensors")`, or to
/// a stream.
template <class Value, class... To>
void save(const Value& value, To&&... to) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<To>(to)...);
}
inline void save(const std::vector<Tensor>& tensors, const std::string& filename) {
  serialize::OutputArchive archive;
  archive << tensors;
  archive.save_to(filename);
}

/// Loads what `save` wrote into a value of the same kind, all or nothing: when it throws, `value`
/// is as it was.
template <class Value, class... From>
void load(Value& value, From&&... from) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<From>(from)...);
  archive >> value;
}

}  // namespace taper
