#pragma once

#include <sstream>
#include <string>

namespace c10 {

/// All arguments, printed one after the other.
template <class... Args>
std::string str(const Args&... args) {
  std::ostringstream out;
  (void)(out << ... << args);
  return out.str();
}

}  // namespace c10
