#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <vector>

#include "taper/core/array_ref.h"

namespace taper {

/// D values from one (repeated) or from D: a kernel size of 3 or of {3, 5}.
template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& values) : ExpandingArray(ArrayRef<T>(values)) {}
  ExpandingArray(ArrayRef<T> values) {
    TAPER_CHECK(values.size() == D, "Expected ", D, " values, but instead got ", values.size());
    for (size_t i = 0; i < D; ++i) values_[i] = values[i];
  }
  ExpandingArray(T single) { values_.fill(single); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return values_; }
  size_t size() const { return D; }

 protected:
  std::array<T, D> values_;
};

/// The same, with values that may be left out: the output size of adaptive pooling.
template <size_t D, class T = int64_t>
class ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
 public:
  using Base = ExpandingArray<D, std::optional<T>>;
  using Base::Base;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list)
      : Base(std::vector<std::optional<T>>(list.begin(), list.end())) {}
  ExpandingArrayWithOptionalElem(const std::vector<T>& values)
      : Base(std::vector<std::optional<T>>(values.begin(), values.end())) {}
  ExpandingArrayWithOptionalElem(T single) : Base(std::optional<T>(single)) {}
};

/// "[3, 5]"; a single value stands alone. A value that was left out is "None".
template <size_t D, class T>
std::ostream& operator<<(std::ostream& stream, const ExpandingArray<D, T>& array) {
  const auto one = [&](const T& value) {
    if constexpr (std::is_same_v<T, std::optional<int64_t>>) {
      if (value) {
        stream << *value;
      } else {
        stream << "None";
      }
    } else {
      stream << value;
    }
  };
  if (D > 1) stream << "[";
  for (size_t i = 0; i < D; ++i) {
    if (i > 0) stream << ", ";
    one((*array)[i]);
  }
  if (D > 1) stream << "]";
  return stream;
}

}  // namespace taper
