#include "support/tensors.h"
#include "taper/core/default_device.h"

// Linked to the programs that run on every device: what their tests make without naming a device
// goes to the one that is tested.

namespace {

[[maybe_unused]] const bool chosen = [] {
  taper::detail::set_default_device(support::device());
  return true;
}();

}  // namespace
