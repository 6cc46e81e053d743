#pragma once

#include <string>

#include "taper/kernels/emulator/memory.h"

// uninitialized=on: which kernel has computed with memory that nobody had written, and where.

namespace taper::emulator {

/// Looks through all device memory for results of arithmetic on memory that nobody had written
/// (sanitizers.h says how they can be told), and says where they lie. Empty: none.
std::string find_uninitialized_arithmetic(const DeviceMemory& memory);

/// While one lives, this thread of the system stops at each invalid operation and notes the first
/// whose result shows that an operand was unwritten. x86-64; elsewhere nothing is noted.
class ArithmeticWatch {
 public:
  explicit ArithmeticWatch(bool on);
  ~ArithmeticWatch();
  ArithmeticWatch(const ArithmeticWatch&) = delete;
  ArithmeticWatch& operator=(const ArithmeticWatch&) = delete;

 private:
  bool on_;
};

/// The note, if there is one, for a report: CUDA thread, block, and the source line where there is
/// debugging information (-g1). The next note is the first again.
std::string take_arithmetic_note();

}  // namespace taper::emulator
