#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include "taper/core/error.h"

namespace taper::data {

/// Goes over a loader's batches once. Copies share the position.
template <class Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;
  using Next = std::function<std::shared_ptr<Batch>()>;

  /// The end.
  Iterator() = default;
  /// Begins with the first batch that `next` gives.
  explicit Iterator(Next next) : state_(std::make_shared<State>()) {
    state_->next = std::move(next);
    advance();
  }

  Iterator& operator++() {
    TAPER_CHECK(state_ && !state_->is_over,
                "Incrementing the DataLoader's past-the-end iterator is not allowed");
    advance();
    return *this;
  }
  void operator++(int) { ++*this; }
  Batch& operator*() const { return *operator->(); }
  Batch* operator->() const {
    TAPER_CHECK(!at_end(), "Dereferencing the DataLoader's past-the-end iterator is not allowed");
    return state_->batch.get();
  }

  bool operator==(const Iterator& other) const {
    return at_end() ? other.at_end() : state_ == other.state_;
  }

 private:
  struct State {
    Next next;
    std::shared_ptr<Batch> batch;  // none at the end, and where making it threw
    bool is_over = false;
  };

  void advance() {
    state_->batch.reset();  // its memory can serve the next batch
    state_->batch = state_->next();
    state_->is_over = !state_->batch;
  }
  bool at_end() const { return !state_ || !state_->batch; }

  std::shared_ptr<State> state_;
};

}  // namespace taper::data
