#include "taper/core/demangle.h"

#include <cxxabi.h>

#include <cstdlib>

namespace taper::detail {

std::string demangled(const char* symbol) {
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  const std::string name = status == 0 ? text : symbol;
  std::free(text);
  return name;
}

}  // namespace taper::detail
