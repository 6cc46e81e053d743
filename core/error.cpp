#include "taper/core/error.h"

#include <charconv>
#include <cmath>
#include <utility>

namespace taper {

Error::Error(std::string message)
    : message_(std::make_shared<const std::string>(std::move(message))) {}

// Out of line, so that each class has one home for its type information and can be caught anywhere.
Error::~Error() = default;
IndexError::~IndexError() = default;
ValueError::~ValueError() = default;
TypeError::~TypeError() = default;
NotImplementedError::~NotImplementedError() = default;
OutOfMemoryError::~OutOfMemoryError() = default;

namespace detail {

namespace {

template <class T>
void append_number(std::string& text, T value) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

}  // namespace

MessageBuilder& MessageBuilder::operator<<(double value) {
  // A float arrives here widened: its own digits are the ones its author wrote.
  const float narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) == value && value != std::trunc(value)) {
    append_number(text_, narrow);
  } else {
    append_number(text_, value);
  }
  return *this;
}

MessageBuilder& MessageBuilder::operator<<(long long value) {
  append_number(text_, value);
  return *this;
}

MessageBuilder& MessageBuilder::operator<<(unsigned long long value) {
  append_number(text_, value);
  return *this;
}

}  // namespace detail

}  // namespace taper
