#pragma once

#include <initializer_list>
#include <type_traits>

#include "taper/core/tensor.h"

// Functions that make tensors. Without a dtype: get_default_dtype(), float32 at first.

namespace taper {

TAPER_API Tensor empty(IntArrayRef size, const TensorOptions& options = {});
/// With MemoryFormat::Contiguous or nothing: there is no tensor whose order could be kept.
TAPER_API Tensor empty(IntArrayRef size, const TensorOptions& options,
                       std::optional<MemoryFormat> memory_format);
TAPER_API Tensor empty_strided(IntArrayRef size, IntArrayRef stride,
                               const TensorOptions& options = {});
TAPER_API Tensor zeros(IntArrayRef size, const TensorOptions& options = {});
TAPER_API Tensor ones(IntArrayRef size, const TensorOptions& options = {});
/// Without a dtype: that of the value (int64, bool or the default).
TAPER_API Tensor full(IntArrayRef size, const Scalar& value, const TensorOptions& options = {});
TAPER_API Tensor empty_like(const Tensor& self, const TensorOptions& options = {},
                            std::optional<MemoryFormat> memory_format = std::nullopt);
TAPER_API Tensor zeros_like(const Tensor& self, const TensorOptions& options = {},
                            std::optional<MemoryFormat> memory_format = std::nullopt);
TAPER_API Tensor ones_like(const Tensor& self, const TensorOptions& options = {},
                           std::optional<MemoryFormat> memory_format = std::nullopt);
TAPER_API Tensor full_like(const Tensor& self, const Scalar& value,
                           const TensorOptions& options = {});
TAPER_API Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {});

/// start, start + step, ... up to but without end. int64 when all three are whole numbers.
TAPER_API Tensor arange(const Scalar& end, const TensorOptions& options = {});
TAPER_API Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
TAPER_API Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
                        const TensorOptions& options = {});
/// `steps` numbers from start to end, both included.
TAPER_API Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                          const TensorOptions& options = {});
TAPER_API Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base = 10.0,
                          const TensorOptions& options = {});
TAPER_API Tensor eye(int64_t n, const TensorOptions& options = {});
TAPER_API Tensor eye(int64_t n, int64_t m, const TensorOptions& options = {});

// Random: same seed, same numbers as PyTorch. `generator` defaults to that of the device.
TAPER_API Tensor rand(IntArrayRef size, const TensorOptions& options = {});
TAPER_API Tensor rand(IntArrayRef size, std::optional<Generator> generator,
                      const TensorOptions& options = {});
TAPER_API Tensor randn(IntArrayRef size, const TensorOptions& options = {});
TAPER_API Tensor randn(IntArrayRef size, std::optional<Generator> generator,
                       const TensorOptions& options = {});
/// Whole numbers in [low, high): int64, or where options are given, their dtype.
TAPER_API Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options = kLong);
TAPER_API Tensor randint(int64_t high, IntArrayRef size, std::optional<Generator> generator,
                         const TensorOptions& options = kLong);
TAPER_API Tensor randint(int64_t low, int64_t high, IntArrayRef size,
                         const TensorOptions& options = kLong);
TAPER_API Tensor randint(int64_t low, int64_t high, IntArrayRef size,
                         std::optional<Generator> generator, const TensorOptions& options = kLong);
/// A random order of 0 .. n-1.
TAPER_API Tensor randperm(int64_t n, const TensorOptions& options = kLong);
TAPER_API Tensor randperm(int64_t n, std::optional<Generator> generator,
                          const TensorOptions& options = kLong);
TAPER_API Tensor rand_like(const Tensor& self, const TensorOptions& options = {});
TAPER_API Tensor randn_like(const Tensor& self, const TensorOptions& options = {});
TAPER_API Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options = {});
TAPER_API Tensor randint_like(const Tensor& self, int64_t low, int64_t high,
                              const TensorOptions& options = {});
TAPER_API Tensor normal(double mean, double std, IntArrayRef size,
                        std::optional<Generator> generator = std::nullopt,
                        const TensorOptions& options = {});
TAPER_API Tensor normal(const Tensor& mean, double std = 1,
                        std::optional<Generator> generator = std::nullopt);
TAPER_API Tensor normal(double mean, const Tensor& std,
                        std::optional<Generator> generator = std::nullopt);
TAPER_API Tensor normal(const Tensor& mean, const Tensor& std,
                        std::optional<Generator> generator = std::nullopt);

/// A tensor over memory that the caller owns and keeps alive, or that `deleter` frees when the last
/// tensor lets go. Without strides: row-major. It has to be memory of the device in `options`.
TAPER_API Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {});
TAPER_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                           const TensorOptions& options = {});
TAPER_API Tensor from_blob(void* data, IntArrayRef sizes, std::function<void(void*)> deleter,
                           const TensorOptions& options = {});
TAPER_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                           std::function<void(void*)> deleter, const TensorOptions& options = {});

namespace detail {

/// Nested braces of numbers: `tensor({{1, 2}, {3, 4}})`. Collects values and shape; rows of unequal
/// length throw.
class TAPER_API TensorDataContainer {
 public:
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, Half> ||
                                              std::is_same_v<T, BFloat16>>>
  TensorDataContainer(T value) : dtype_(value_dtype<T>()), scalar_(value) {}
  TensorDataContainer(std::initializer_list<TensorDataContainer> items);
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  TensorDataContainer(ArrayRef<T> values) : dtype_(value_dtype<T>()), is_list_(true) {
    sizes_.push_back(static_cast<int64_t>(values.size()));
    for (const T& value : values) values_.emplace_back(value);
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  TensorDataContainer(const std::vector<T>& values) : dtype_(value_dtype<T>()), is_list_(true) {
    sizes_.push_back(static_cast<int64_t>(values.size()));
    for (const T value : values) values_.emplace_back(value);
  }

  ScalarType dtype() const { return dtype_; }
  const std::vector<int64_t>& sizes() const { return sizes_; }
  bool is_scalar() const { return !is_list_; }
  /// All values in row-major order.
  const std::vector<Scalar>& values() const { return values_; }
  const Scalar& scalar() const { return scalar_; }

 private:
  // As LibTorch: integers become int64, floating values the default dtype.
  template <class T>
  static ScalarType value_dtype() {
    if constexpr (std::is_same_v<T, bool>) return kBool;
    if constexpr (std::is_integral_v<T>) return kLong;
    return get_default_dtype_as_scalartype();
  }

  ScalarType dtype_ = ScalarType::Undefined;
  bool is_list_ = false;
  Scalar scalar_;
  std::vector<int64_t> sizes_;
  std::vector<Scalar> values_;
};

}  // namespace detail

/// A tensor of the given numbers: `tensor({1., 2.})`, `tensor({{1, 2}, {3, 4}})`, `tensor(3)`.
TAPER_API Tensor tensor(detail::TensorDataContainer data, const TensorOptions& options = {});

TAPER_API TypeMeta get_default_dtype();

/// The dtype in which an op on these operands computes, by PyTorch's rules: dimensioned tensors
/// count before zero-dimensional ones, those before numbers.
TAPER_API ScalarType result_type(const Tensor& a, const Tensor& b);
TAPER_API ScalarType result_type(const Tensor& a, const Scalar& b);
TAPER_API ScalarType result_type(const Scalar& a, const Tensor& b);
TAPER_API bool can_cast(ScalarType from, ScalarType to);

}  // namespace taper
