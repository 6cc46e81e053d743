#pragma once

#include <functional>

namespace versus {

/// Nanoseconds of a call on the CPU: the median of several, or where one takes long of the one.
double time_cpu(const std::function<void()>& call);

/// Nanoseconds of a call on the current stream between two events of it, with many calls queued
/// between them, so that the way from the host to the device counts only where it is the slower.
double time_cuda(const std::function<void()>& call);

}  // namespace versus
