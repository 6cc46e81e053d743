#pragma once

#include <cstdint>

namespace taper::kernels {

/// How a kernel ended. Kernels never throw: a module may be loaded at run time, and exceptions do
/// not cross that border. The op layer turns anything but kOk into a taper::Error with the op's
/// name.
enum class Code : int32_t {
  kOk,
  kUnsupported,      ///< no kernel for this op and dtype; `what` may name the kind of device
  kIndexOutOfRange,  ///< `value` was found where [0, limit) is allowed
  kInvalidValue,     ///< `what` says which value is not allowed
  kOutOfMemory,      ///< `value` bytes of scratch could not be had
  kDeviceError,      ///< `what` is the device's own message
};

struct [[nodiscard]] Status {
  Code code = Code::kOk;
  int64_t value = 0;
  int64_t limit = 0;
  const char* what = nullptr;  ///< static text, or owned by the module

  bool ok() const { return code == Code::kOk; }
};

inline Status unsupported() { return {Code::kUnsupported, 0, 0, nullptr}; }
inline Status index_out_of_range(int64_t value, int64_t limit) {
  return {Code::kIndexOutOfRange, value, limit, nullptr};
}

}  // namespace taper::kernels
