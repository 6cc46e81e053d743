#pragma once

#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/data/data.h"

namespace data_test {

using namespace taper;
using Catch::Matchers::ContainsSubstring;

/// A folder that goes away with the test.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "taper-test-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  size_t files() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  REQUIRE(file.good());
}

inline std::string golden(const std::string& name) {
  return std::string(TAPER_GOLDEN_DIR) + "/data/" + name;
}

/// The message of the Error that `body` throws.
template <class ErrorType = Error, class Body>
std::string error_of(Body body) {
  try {
    body();
  } catch (const ErrorType& error) {
    return error.what();
  }
  FAIL("nothing was thrown");
  return "";
}

inline std::vector<int64_t> ints(const Tensor& tensor) {
  const Tensor flat = tensor.to(kLong).contiguous();
  const int64_t* data = flat.data_ptr<int64_t>();
  return {data, data + flat.numel()};
}

inline bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && a.is_contiguous() &&
         b.is_contiguous() && std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0;
}

/// 0, 1, 2, ...
inline Tensor counting(std::vector<int64_t> shape, ScalarType dtype) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return arange(n).reshape(shape).to(dtype);
}

/// Sample i is {i, i}, with a hook that a test may set.
class Numbers : public data::datasets::Dataset<Numbers> {
 public:
  explicit Numbers(size_t size, std::function<void(size_t)> hook = {})
      : size_(size), hook_(std::move(hook)) {}
  data::Example<> get(size_t index) override {
    if (hook_) hook_(index);
    return {full({}, static_cast<double>(index)), full({}, static_cast<int64_t>(index))};
  }
  std::optional<size_t> size() const override { return size_; }

 private:
  size_t size_;
  std::function<void(size_t)> hook_;
};

/// The targets of all batches, batch by batch.
template <class Loader>
std::vector<std::vector<int64_t>> batches(Loader& loader) {
  std::vector<std::vector<int64_t>> result;
  for (auto& batch : loader) result.push_back(ints(batch.target));
  return result;
}

template <class Loader>
std::vector<int64_t> order(Loader& loader) {
  std::vector<int64_t> result;
  for (const auto& batch : batches(loader)) result.insert(result.end(), batch.begin(), batch.end());
  return result;
}

}  // namespace data_test
