#pragma once

#include <string>

namespace taper::detail {

/// The name of a type as it is written, from `typeid(T).name()`.
std::string demangled(const char* symbol);

}  // namespace taper::detail
