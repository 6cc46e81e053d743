#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <vector>

#include "taper/core/error.h"

namespace taper {

/// A view of a contiguous array that somebody else owns. It must not outlive what it was made from;
/// `f({1, 2})` is fine, since the list lives until the call returns.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(end - begin) {}
  ArrayRef(const std::vector<T>& values) : data_(values.data()), size_(values.size()) {}
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& values) : data_(values.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&values)[N]) : data_(values), size_(N) {}
#pragma GCC diagnostic push
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  constexpr ArrayRef(const std::initializer_list<T>& values)
      : data_(values.begin()), size_(values.size()) {}
#pragma GCC diagnostic pop

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  const T& at(size_t i) const {
    TAPER_CHECK_INDEX(i < size_, "ArrayRef: index ", i, " is out of range for ", size_,
                      " elements");
    return data_[i];
  }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr ArrayRef slice(size_t begin, size_t count) const { return {data_ + begin, count}; }
  constexpr ArrayRef slice(size_t begin) const { return {data_ + begin, size_ - begin}; }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  bool equals(ArrayRef other) const {
    if (size_ != other.size_) return false;
    for (size_t i = 0; i < size_; ++i) {
      if (!(data_[i] == other.data_[i])) return false;
    }
    return true;
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

template <class T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <class T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <class T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}

using IntArrayRef = ArrayRef<int64_t>;

/// Dimensions that may be left out: `std::nullopt` means "all" where an op says so.
class OptionalIntArrayRef {
 public:
  OptionalIntArrayRef() = default;
  OptionalIntArrayRef(std::nullopt_t) {}
  OptionalIntArrayRef(IntArrayRef values) : values_(values), present_(true) {}
  OptionalIntArrayRef(const std::vector<int64_t>& values)
      : OptionalIntArrayRef(IntArrayRef(values)) {}
  OptionalIntArrayRef(const std::initializer_list<int64_t>& values)
      : OptionalIntArrayRef(IntArrayRef(values)) {}
  OptionalIntArrayRef(const int64_t& one) : OptionalIntArrayRef(IntArrayRef(one)) {}

  bool has_value() const { return present_; }
  explicit operator bool() const { return present_; }
  IntArrayRef value() const { return values_; }
  IntArrayRef operator*() const { return values_; }
  const IntArrayRef* operator->() const { return &values_; }

 private:
  IntArrayRef values_;
  bool present_ = false;
};

/// "[2, 3]"
TAPER_API std::ostream& operator<<(std::ostream& out, IntArrayRef values);

namespace detail {
TAPER_API MessageBuilder& operator<<(MessageBuilder& message, IntArrayRef values);
inline MessageBuilder& operator<<(MessageBuilder& message, const std::vector<int64_t>& values) {
  return message << IntArrayRef(values);
}
}  // namespace detail

}  // namespace taper
