#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "taper/core/cuda.h"
#include "taper/core/default_device.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"

// What tests need of a tensor without asking the ops under test: its elements are read and written
// through pointer and strides alone.

namespace support {

using taper::BFloat16;
using taper::Half;
using taper::IntArrayRef;
using taper::ScalarType;
using taper::Tensor;
using Sizes = std::vector<int64_t>;

inline int64_t count(const Sizes& sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

/// Row-major strides.
inline Sizes packed_strides(const Sizes& sizes) {
  Sizes strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<int64_t>(sizes[d], 1);
  return strides;
}

/// Calls body(offset) with each element's offset, in row-major order.
template <class Body>
void for_each_offset(const Sizes& sizes, const Sizes& strides, Body body) {
  Sizes at(sizes.size(), 0);
  for (int64_t i = 0, n = count(sizes); i < n; ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * strides[d];
    body(offset);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
  }
}

inline double read(ScalarType dtype, const void* data, int64_t i) {
  switch (dtype) {
#define SUPPORT_READ(type, name, python) \
  case ScalarType::name:                 \
    return static_cast<double>(static_cast<const type*>(data)[i]);
    TAPER_FORALL_DTYPES(SUPPORT_READ)
#undef SUPPORT_READ
    default:
      return 0;
  }
}

inline void write(ScalarType dtype, void* data, int64_t i, double value) {
  switch (dtype) {
#define SUPPORT_WRITE(type, name, python)                   \
  case ScalarType::name:                                    \
    static_cast<type*>(data)[i] = static_cast<type>(value); \
    break;
    TAPER_FORALL_DTYPES(SUPPORT_WRITE)
#undef SUPPORT_WRITE
    default:
      break;
  }
}

/// Where the tests' tensors live: TAPER_TEST_DEVICE, else the CPU.
inline taper::Device device() {
  static const taper::Device chosen = [] {
    const char* const name = std::getenv("TAPER_TEST_DEVICE");
    // Expected values are those of float arithmetic.
    taper::cuda::set_allow_tf32_cudnn(false);
    return taper::Device(name && *name ? name : "cpu");
  }();
  return chosen;
}

/// How many elements or repetitions, in tests that want many: fewer on a device, where each is a
/// launch or, in the emulator, a call.
inline int64_t scaled(int64_t n) { return device().is_cpu() ? n : n / 20; }

/// What is made in this scope is made on the CPU: its random numbers are PyTorch's, those of golden
/// data.
struct OnCpu {
  OnCpu() { taper::detail::set_default_device(taper::kCPU); }
  ~OnCpu() { taper::detail::set_default_device(device()); }
  OnCpu(const OnCpu&) = delete;
};

/// All elements in row-major order. Exact up to 2^53.
inline std::vector<double> values(const Tensor& tensor) {
  if (!tensor.is_cpu()) return values(tensor.detach().cpu());
  std::vector<double> result;
  result.reserve(static_cast<size_t>(tensor.numel()));
  const void* data = tensor.data_ptr();
  for_each_offset(tensor.sizes().vec(), tensor.strides().vec(), [&](int64_t offset) {
    result.push_back(read(tensor.scalar_type(), data, offset));
  });
  return result;
}

/// A tensor of these elements; without strides contiguous.
inline Tensor make(const std::vector<double>& elements, const Sizes& sizes,
                   ScalarType dtype = taper::kFloat, const Sizes* strides = nullptr) {
  const auto here = taper::TensorOptions(dtype).device(taper::kCPU);
  const Tensor tensor =
      strides ? taper::empty_strided(sizes, *strides, here) : taper::empty(sizes, here);
  size_t next = 0;
  for_each_offset(sizes, tensor.strides().vec(), [&](int64_t offset) {
    write(dtype, tensor.data_ptr(), offset, elements[next++]);
  });
  if (device().is_cpu()) return tensor;
  // The same layout over there: the whole storage is copied.
  const Tensor moved =
      taper::empty_strided(sizes, tensor.strides(), taper::TensorOptions(dtype).device(device()));
  const int64_t all = static_cast<int64_t>(tensor.storage().nbytes()) / tensor.element_size();
  moved.as_strided({all}, {1}).copy_(tensor.as_strided({all}, {1}));
  return moved;
}

/// Whether the elements are those expected, within `tolerance` absolute plus relative. NaN equals
/// NaN.
inline bool near(const std::vector<double>& got, const std::vector<double>& expected,
                 double tolerance = 1e-6) {
  if (got.size() != expected.size()) return false;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) && std::isnan(expected[i])) continue;
    if (got[i] == expected[i]) continue;
    if (!(std::abs(got[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i])))) return false;
  }
  return true;
}
inline bool near(const Tensor& got, const std::vector<double>& expected, double tolerance = 1e-6) {
  return near(values(got), expected, tolerance);
}

inline std::string text(const std::vector<double>& elements) {
  std::string out = "[";
  for (size_t i = 0; i < elements.size(); ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%s%.9g", i ? ", " : "", elements[i]);
    out += number;
    if (i == 15 && elements.size() > 18) {
      out += ", ...";
      break;
    }
  }
  return out + "]";
}
inline std::string text(const Tensor& tensor) { return text(values(tensor)); }
inline std::string text(const Sizes& sizes) {
  std::string out = "(";
  for (size_t i = 0; i < sizes.size(); ++i) out += (i ? ", " : "") + std::to_string(sizes[i]);
  return out + ")";
}

/// The message of the Error that `body` throws; empty when it throws none. A device's kernels are
/// waited for: a bad index is found by them.
template <class Body>
std::string error_of(Body body) {
  try {
    body();
    if (device().is_cuda()) taper::cuda::synchronize(device().index());
  } catch (const taper::Error& error) {
    return error.what()[0] ? error.what() : "(an Error without a message)";
  }
  return "";
}

/// Whether a message has the words. A kernel on a device knows of an index neither the dimension
/// nor that it is a class, and has one sentence for all.
inline bool says(const std::string& message, const std::string& words) {
  if (message.find(words) != std::string::npos) return true;
  return device().is_cuda() && words.find("out of bounds") != std::string::npos &&
         message.find("out of bounds") != std::string::npos;
}

}  // namespace support

/// Ends a test where tensors live on another device than the CPU, and says why it is none of
/// theirs.
#define CPU_ONLY(why)                  \
  if (!::support::device().is_cpu()) { \
    SUCCEED("only on the CPU: " why);  \
    return;                            \
  }                                    \
  static_assert(true)
