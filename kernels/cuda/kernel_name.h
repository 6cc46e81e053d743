#pragma once

#include <string>

#include "taper/core/demangle.h"

namespace taper::kernels::cuda {

/// What messages call a kernel, from its symbol: without the types of its arguments and without the
/// namespaces that all kernels share, as docs/cuda-kernels.json has it (`short_name` in
/// scripts/sass/objects.py). "softmax_rows_online<float>"
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
  const auto drop = [&](const std::string& what, size_t length) {
    for (size_t at = 0; (at = name.find(what, at)) != std::string::npos;) name.erase(at, length);
  };
  for (const std::string shared : {"(anonymous namespace)::", "taper::kernels::cuda::",
                                   "taper::kernels::functors::", "taper::"}) {
    drop(shared, shared.size());
  }
  drop(" >", 1);  // of two lists of arguments that end together
  return name;
}

}  // namespace taper::kernels::cuda
