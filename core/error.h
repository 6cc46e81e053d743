#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "taper/core/macros.h"

namespace taper {

/// Every error that Taper reports. `what()` is one message that names the op, what was expected and
/// what came; `what_without_backtrace`, `msg` and `backtrace` exist for programs written for
/// LibTorch.
class TAPER_API Error : public std::exception {
 public:
  explicit Error(std::string message);
  ~Error() override;
  const char* what() const noexcept override { return message_->c_str(); }
  const char* what_without_backtrace() const noexcept { return what(); }
  const std::string& msg() const { return *message_; }
  /// Empty: messages say what happened by themselves.
  std::string backtrace() const { return {}; }

 private:
  std::shared_ptr<const std::string> message_;  // copying an exception must not throw
};

/// An index, label or dimension outside its range.
class TAPER_API IndexError : public Error {
 public:
  using Error::Error;
  ~IndexError() override;
};

/// An argument whose type fits but whose value does not.
class TAPER_API ValueError : public Error {
 public:
  using Error::Error;
  ~ValueError() override;
};

/// An argument of the wrong type or dtype.
class TAPER_API TypeError : public Error {
 public:
  using Error::Error;
  ~TypeError() override;
};

/// What was asked for does not exist (an op without a kernel for a device or dtype).
class TAPER_API NotImplementedError : public Error {
 public:
  using Error::Error;
  ~NotImplementedError() override;
};

/// Memory is exhausted. The program stays usable: catch it, free or shrink, go on.
class TAPER_API OutOfMemoryError : public Error {
 public:
  using Error::Error;
  ~OutOfMemoryError() override;
};

namespace detail {

// Builds a message without <sstream> in public headers: every part is appended by an overload.
class TAPER_API MessageBuilder {
 public:
  MessageBuilder& operator<<(const char* text) {
    text_ += text;
    return *this;
  }
  MessageBuilder& operator<<(const std::string& text) {
    text_ += text;
    return *this;
  }
  MessageBuilder& operator<<(char c) {
    text_ += c;
    return *this;
  }
  MessageBuilder& operator<<(bool value) { return *this << (value ? "true" : "false"); }
  MessageBuilder& operator<<(double value);
  MessageBuilder& operator<<(long long value);
  MessageBuilder& operator<<(unsigned long long value);
  MessageBuilder& operator<<(int value) { return *this << static_cast<long long>(value); }
  MessageBuilder& operator<<(long value) { return *this << static_cast<long long>(value); }
  MessageBuilder& operator<<(unsigned value) {
    return *this << static_cast<unsigned long long>(value);
  }
  MessageBuilder& operator<<(unsigned long value) {
    return *this << static_cast<unsigned long long>(value);
  }
  MessageBuilder& operator<<(float value) { return *this << static_cast<double>(value); }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

template <class ErrorType, class... Parts>
[[noreturn]] TAPER_COLD void fail(const Parts&... parts) {
  MessageBuilder message;
  (void)(message << ... << parts);
  throw ErrorType(message.take());
}

}  // namespace detail

}  // namespace taper

// Throws `ErrorType` with the concatenated parts unless `condition` holds.
#define TAPER_CHECK_AS(ErrorType, condition, ...)    \
  do {                                               \
    if (TAPER_UNLIKELY(!(condition))) {              \
      ::taper::detail::fail<ErrorType>(__VA_ARGS__); \
    }                                                \
  } while (false)

#define TAPER_CHECK(condition, ...) TAPER_CHECK_AS(::taper::Error, condition, __VA_ARGS__)
#define TAPER_CHECK_INDEX(condition, ...) \
  TAPER_CHECK_AS(::taper::IndexError, condition, __VA_ARGS__)
#define TAPER_CHECK_VALUE(condition, ...) \
  TAPER_CHECK_AS(::taper::ValueError, condition, __VA_ARGS__)
#define TAPER_CHECK_TYPE(condition, ...) TAPER_CHECK_AS(::taper::TypeError, condition, __VA_ARGS__)

// A broken promise inside Taper itself.
#define TAPER_INTERNAL_CHECK(condition)                                                   \
  TAPER_CHECK(condition, "internal error: " #condition " does not hold (", __FILE__, ":", \
              __LINE__, "). Please report it.")
