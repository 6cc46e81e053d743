#include "taper/core/options.h"

#include <ostream>

namespace taper {

std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  const auto mark_default = [](bool given) { return given ? "" : " (default)"; };
  out << "TensorOptions(dtype=" << options.dtype() << mark_default(options.has_dtype());
  out << ", device=" << options.device() << mark_default(options.has_device());
  out << ", layout=Strided (default), requires_grad="
      << (options.requires_grad() ? "true" : "false") << mark_default(options.requires_grad());
  out << ", pinned_memory=" << (options.pinned_memory() ? "true" : "false")
      << mark_default(options.pinned_memory());
  return out << ", memory_format=(nullopt))";
}

}  // namespace taper
