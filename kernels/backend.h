#pragma once

#include <string>
#include <vector>

#include "taper/core/device.h"
#include "taper/core/dtype.h"
#include "taper/kernels/kernels.h"

// Which kernels run: the table of a device, and how their failures become exceptions.

namespace taper::kernels {

/// The kernels for this processor: the best table it can run, or the one that TAPER_CPU (v2, v3,
/// v4, generic) names. Throws where that one does not exist or the processor cannot run it.
TAPER_API const KernelTable& cpu_table();
/// "v3"
TAPER_API const char* cpu_table_name();
/// The tables that this processor can run, the best one last.
TAPER_API std::vector<std::string> available_cpu_tables();
/// Switches to another table from the next op on, for tests; null goes back to the choice at the
/// start.
TAPER_API void set_cpu_table(const char* name);

/// Throws for a device that does not exist here.
TAPER_API const KernelTable& kernels_for(Device device);
TAPER_API Stream stream_for(Device device);

/// The exception for a kernel that failed: IndexError, ValueError, NotImplementedError,
/// OutOfMemoryError.
[[noreturn]] TAPER_API TAPER_COLD void fail(const Status& status, const char* op, Device device,
                                            ScalarType dtype);
/// How a message about an index begins: "gather(): index", or "nll_loss: Target"; see Stream::op.
TAPER_API TAPER_COLD std::string index_of_op(const char* op);
/// Throws unless the kernel succeeded. `device` and `dtype` only make the message clearer.
inline void check(const Status& status, const char* op, Device device = kCPU,
                  ScalarType dtype = ScalarType::Undefined) {
  if (TAPER_UNLIKELY(!status.ok())) fail(status, op, device, dtype);
}

}  // namespace taper::kernels
