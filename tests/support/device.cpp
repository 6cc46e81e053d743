#include "support/tensors.h"
#include "taper/core/default_device.h"

void choose_device();

/// Linked to the programs that run on every device: what their tests make without naming a device
/// goes to the one that is tested.
void choose_device() { taper::detail::set_default_device(support::device()); }
