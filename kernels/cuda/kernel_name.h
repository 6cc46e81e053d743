#pragma once

#include <string>

#include "taper/core/demangle.h"

namespace taper::kernels::cuda {

/// What messages call a kernel, from its symbol: without the types of its arguments and without the
/// namespaces that all kernels share. "softmax_rows_online<float>"
inline std::string kernel_name(const char* symbol) {
  std::string name = taper::detail::demangled(symbol);
  if (!name.empty() && name.back() == ')') {
    int depth = 0;
    size_t at = name.size();
    do {
      --at;
      depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
    } while (at > 0 && depth > 0);
    name.resize(at);
  }
  if (name.rfind("void ", 0) == 0) name.erase(0, 5);
  for (const std::string shared : {"(anonymous namespace)::", "taper::kernels::cuda::",
                                   "taper::kernels::functors::", "taper::"}) {
    for (size_t at = 0; (at = name.find(shared, at)) != std::string::npos;) {
      name.erase(at, shared.size());
    }
  }
  return name;
}

}  // namespace taper::kernels::cuda
