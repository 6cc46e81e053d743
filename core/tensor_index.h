#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "taper/core/error.h"

namespace taper {

class Tensor;

namespace indexing {

inline constexpr std::nullopt_t None = std::nullopt;
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis{};

/// start:stop:step of Python; parts left out, or None, mean the ends. The step is positive.
struct Slice {
  std::optional<int64_t> start_, stop_, step_;

  Slice(std::optional<int64_t> start = std::nullopt, std::optional<int64_t> stop = std::nullopt,
        std::optional<int64_t> step = std::nullopt)
      : start_(start), stop_(stop), step_(step) {}
};

}  // namespace indexing

/// One entry of `x.index({...})`: an integer, a Slice, None (a new dimension), "..." (all
/// dimensions not named), a bool, or a tensor of indices or a mask.
class TAPER_API TensorIndex {
 public:
  enum class Kind : uint8_t { kNone, kEllipsis, kInteger, kBool, kSlice, kTensor };

  TensorIndex(std::nullopt_t) : kind_(Kind::kNone) {}
  TensorIndex(indexing::EllipsisIndexType) : kind_(Kind::kEllipsis) {}
  TensorIndex(const char* text) : kind_(Kind::kEllipsis) {
    TAPER_CHECK_VALUE(std::string(text) == "...",
                      "Expected \"...\" to represent an ellipsis index, but got \"", text, "\"");
  }
  TensorIndex(int64_t index) : kind_(Kind::kInteger), integer_(index) {}
  TensorIndex(int index) : TensorIndex(static_cast<int64_t>(index)) {}
  TensorIndex(indexing::Slice slice) : kind_(Kind::kSlice), slice_(slice) {}
  template <class T, class = std::enable_if_t<std::is_same_v<T, bool>>>
  TensorIndex(T on) : kind_(Kind::kBool), integer_(on) {}
  TensorIndex(const Tensor& tensor);
  TensorIndex(const TensorIndex& other);
  TensorIndex& operator=(const TensorIndex& other);
  ~TensorIndex();

  Kind kind() const { return kind_; }
  int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const indexing::Slice& slice() const { return slice_; }
  const Tensor& tensor() const { return *tensor_; }

 private:
  Kind kind_;
  int64_t integer_ = 0;
  indexing::Slice slice_;
  Tensor* tensor_ = nullptr;  // owned; Tensor is incomplete here
};

namespace indexing {
using TensorIndex = ::taper::TensorIndex;
}

}  // namespace taper
