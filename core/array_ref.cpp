#include "taper/core/array_ref.h"

#include <ostream>

namespace taper {

std::ostream& operator<<(std::ostream& out, IntArrayRef values) {
  out << '[';
  for (size_t i = 0; i < values.size(); ++i) out << (i ? ", " : "") << values[i];
  return out << ']';
}

namespace detail {

MessageBuilder& operator<<(MessageBuilder& message, IntArrayRef values) {
  message << '[';
  for (size_t i = 0; i < values.size(); ++i) message << (i ? ", " : "") << values[i];
  return message << ']';
}

}  // namespace detail

}  // namespace taper
