#pragma once

#include <cstdint>
#include <type_traits>

#include "taper/kernels/kernels.h"

// What every file of the CPU kernels shares. The files are compiled once per instruction set
// (TAPER_CPU_LEVEL is v2, v3, v4 or generic); all code lives in that level's namespace, and the
// build makes everything but the table local to it. No mutable static data here: one process may
// hold three copies.

#define TAPER_CPU_BEGIN           \
  namespace taper::kernels::cpu { \
  inline namespace TAPER_CPU_LEVEL {
#define TAPER_CPU_END \
  }                   \
  }

TAPER_CPU_BEGIN

#define TAPER_DECLARE(name) std::remove_pointer_t<decltype(KernelTable::name)> name;
TAPER_KERNELS(TAPER_DECLARE)
#undef TAPER_DECLARE

/// Runs body(begin, end) over [0, count) on the calling thread and the pool.
template <class Body>
void parallel_for(const Stream& stream, int64_t count, int64_t grain, const Body& body) {
  if (count <= grain) {
    if (count > 0) body(int64_t{0}, count);
    return;
  }
  stream.host->parallel_for(
      count, grain,
      [](void* context, int64_t begin, int64_t end) {
        (*static_cast<const Body*>(context))(begin, end);
      },
      const_cast<Body*>(&body));
}

/// Scratch memory for one kernel call; `get()` is null when there is none to be had.
template <class T>
class Scratch {
 public:
  Scratch(const Stream& stream, int64_t count)
      : host_(stream.host), bytes_(static_cast<size_t>(count) * sizeof(T)) {
    memory_ = static_cast<T*>(host_->allocate(bytes_));
  }
  ~Scratch() {
    if (memory_) host_->release(memory_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* get() const { return memory_; }
  T& operator[](int64_t i) const { return memory_[i]; }
  Status failure() const { return {Code::kOutOfMemory, static_cast<int64_t>(bytes_), 0, nullptr}; }

 private:
  const HostServices* host_;
  size_t bytes_;
  T* memory_;
};

/// Calls visit(T{}) with the C++ type of `dtype`, out of the types listed; unsupported() for
/// others.
template <class... Types, class Visit>
Status for_dtype(ScalarType dtype, const Visit& visit) {
  Status status = unsupported();
  (void)((dtype == dtype_of<Types> ? (status = visit(Types{}), true) : false) || ...);
  return status;
}
template <class Visit>
Status for_floating(ScalarType dtype, const Visit& visit) {
  return for_dtype<float, double, Half, BFloat16>(dtype, visit);
}
template <class Visit>
Status for_number(ScalarType dtype, const Visit& visit) {
  return for_dtype<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint8_t>(
      dtype, visit);
}
template <class Visit>
Status for_any(ScalarType dtype, const Visit& visit) {
  return for_dtype<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint8_t, bool>(
      dtype, visit);
}

/// The type in which a dtype is summed: halves in float, integers and bool in int64.
template <class T>
using acc_t =
    std::conditional_t<std::is_same_v<T, double>, double,
                       std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, Half> ||
                                              std::is_same_v<T, BFloat16>,
                                          float, int64_t>>;

TAPER_CPU_END
