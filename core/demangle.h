#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace taper::detail {

/// A symbol as the source writes it, or a type from `typeid(T).name()`. The text itself where it is
/// neither.
inline std::string demangled(const char* symbol) {
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr), &std::free);
  return name ? name.get() : symbol;
}

}  // namespace taper::detail
