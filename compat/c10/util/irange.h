#pragma once

#include <iterator>
#include <type_traits>

namespace c10 {

/// The integers begin, begin + 1, ..., end - 1: `for (const auto i : c10::irange(n))`.
template <class Int>
class IntegerRange {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Int;
    using difference_type = std::ptrdiff_t;
    using pointer = const Int*;
    using reference = Int;

    explicit iterator(Int value) : value_(value) {}
    Int operator*() const { return value_; }
    iterator& operator++() {
      ++value_;
      return *this;
    }
    iterator operator++(int) { return iterator(value_++); }
    bool operator==(const iterator& other) const = default;

   private:
    Int value_;
  };

  /// Empty when end is not above begin.
  IntegerRange(Int begin, Int end) : begin_(begin), end_(end < begin ? begin : end) {}
  iterator begin() const { return iterator(begin_); }
  iterator end() const { return iterator(end_); }

 private:
  Int begin_, end_;
};

template <class Int, class = std::enable_if_t<std::is_integral_v<Int>>>
IntegerRange<Int> irange(Int end) {
  return {Int{}, end};
}
/// Of the type of `end`, as in LibTorch.
template <class Begin, class End,
          class = std::enable_if_t<std::is_integral_v<Begin> && std::is_integral_v<End>>>
IntegerRange<End> irange(Begin begin, End end) {
  return {static_cast<End>(begin), end};
}

}  // namespace c10
