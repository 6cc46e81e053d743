#pragma once

#include <iostream>
#include <string>

#include "c10/names.h"
#include "c10/util/StringUtil.h"

namespace c10::detail {

template <class ErrorType = Error, class... Args>
[[noreturn]] TAPER_COLD void fail_check(const char* condition, const Args&... args) {
  if constexpr (sizeof...(args) == 0) {
    throw ErrorType(str("Expected ", condition, " to be true, but got false."));
  } else {
    throw ErrorType(str(args...));
  }
}

template <class... Args>
[[noreturn]] TAPER_COLD void fail_assert(const char* condition, const char* file, int line,
                                         const Args&... args) {
  throw Error(str(condition, " INTERNAL ASSERT FAILED at \"", file, "\":", line, ". ", args...));
}

template <class... Args>
TAPER_COLD void warn(const char* file, int line, const Args&... args) {
  std::cerr << str("Warning: ", args..., " (", file, ":", line, ")\n");
}

}  // namespace c10::detail

#define TORCH_CHECK_WITH(ErrorType, condition, ...)                                       \
  do {                                                                                    \
    if (TAPER_UNLIKELY(!(condition))) {                                                   \
      ::c10::detail::fail_check<::c10::ErrorType>(#condition __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                                     \
  } while (false)
#define TORCH_CHECK(condition, ...) TORCH_CHECK_WITH(Error, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) \
  TORCH_CHECK_WITH(IndexError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) \
  TORCH_CHECK_WITH(ValueError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) \
  TORCH_CHECK_WITH(TypeError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  TORCH_CHECK_WITH(NotImplementedError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(condition, ...)                                                \
  do {                                                                                       \
    if (TAPER_UNLIKELY(!(condition))) {                                                      \
      ::c10::detail::fail_assert(#condition, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                                        \
  } while (false)
#if defined(NDEBUG)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  do {                                        \
  } while (false)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif

#define TORCH_WARN(...) ::c10::detail::warn(__FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_WARN_ONCE(...)                                \
  do {                                                      \
    [[maybe_unused]] static const bool taper_warned = [&] { \
      TORCH_WARN(__VA_ARGS__);                              \
      return true;                                          \
    }();                                                    \
  } while (false)

// The names that older programs use.
#define AT_ERROR(...) ::c10::detail::fail_check("" __VA_OPT__(, ) __VA_ARGS__)
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(condition, ...) TORCH_INTERNAL_ASSERT(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_CHECK(...) TORCH_CHECK(__VA_ARGS__)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
