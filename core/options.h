#pragma once

#include <concepts>
#include <optional>
#include <type_traits>

#include "taper/core/device.h"
#include "taper/core/dtype.h"

namespace taper {

/// Order of the elements in memory. Taper keeps dense tensors row-major.
enum class MemoryFormat : int8_t { Contiguous, Preserve };
enum class Layout : int8_t { Strided };
constexpr Layout kStrided = Layout::Strided;

/// What a factory needs to know besides the shape. Every part can be left out; a dtype or a device
/// converts by itself: `zeros({2}, kLong)`, `zeros({2}, device)`, `zeros({2}, "cuda:1")`.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType dtype) : dtype_(dtype) {}
  TensorOptions(TypeMeta dtype) : dtype_(dtype.type) {}
  /// A template, so that a list in brackets is not taken for one: `TensorOptions({kCUDA, 1})`.
  template <std::same_as<Device> D>
  TensorOptions(D device) : device_(device) {}
  TensorOptions(DeviceType type) : device_(Device(type)) {}
  TensorOptions(Layout) {}
  /// What makes a Device: its text, or its type and number, `zeros({2}, {kCUDA, 1})`.
  template <class... Args>
    requires std::is_constructible_v<Device, Args...>
  TensorOptions(Args&&... args) : device_(Device(static_cast<Args&&>(args)...)) {}

  [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> dtype) const {
    TensorOptions out = *this;
    out.dtype_ = dtype;
    return out;
  }
  template <class T>
  [[nodiscard]] TensorOptions dtype() const {
    return dtype(dtype_of<T>);
  }
  [[nodiscard]] TensorOptions device(std::optional<Device> device) const {
    TensorOptions out = *this;
    out.device_ = device;
    return out;
  }
  [[nodiscard]] TensorOptions device(DeviceType type, DeviceIndex index = -1) const {
    return device(Device(type, index));
  }
  [[nodiscard]] TensorOptions device_index(DeviceIndex index) const { return device(kCUDA, index); }
  [[nodiscard]] TensorOptions layout(std::optional<Layout>) const { return *this; }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> on) const {
    TensorOptions out = *this;
    out.requires_grad_ = on;
    return out;
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> on) const {
    TensorOptions out = *this;
    out.pinned_memory_ = on;
    return out;
  }
  [[nodiscard]] TensorOptions memory_format(MemoryFormat) const { return *this; }

  /// The dtype, or the default one where none was given.
  TypeMeta dtype() const { return dtype_ ? *dtype_ : get_default_dtype_as_scalartype(); }
  Device device() const { return device_ ? *device_ : Device(kCPU); }
  bool requires_grad() const { return requires_grad_.value_or(false); }
  bool pinned_memory() const { return pinned_memory_.value_or(false); }
  bool has_dtype() const { return dtype_.has_value(); }
  bool has_device() const { return device_.has_value(); }
  bool has_requires_grad() const { return requires_grad_.has_value(); }
  bool has_pinned_memory() const { return pinned_memory_.has_value(); }
  std::optional<ScalarType> dtype_opt() const { return dtype_; }
  std::optional<Device> device_opt() const { return device_; }
  std::optional<bool> requires_grad_opt() const { return requires_grad_; }
  std::optional<bool> pinned_memory_opt() const { return pinned_memory_; }
  Layout layout() const { return kStrided; }
  /// These, where `other` does not say otherwise.
  [[nodiscard]] TensorOptions merge_in(const TensorOptions& other) const {
    TensorOptions out = *this;
    if (other.dtype_) out.dtype_ = other.dtype_;
    if (other.device_) out.device_ = other.device_;
    if (other.requires_grad_) out.requires_grad_ = other.requires_grad_;
    if (other.pinned_memory_) out.pinned_memory_ = other.pinned_memory_;
    return out;
  }

 private:
  std::optional<ScalarType> dtype_;
  std::optional<Device> device_;
  std::optional<bool> requires_grad_, pinned_memory_;
};

inline TensorOptions dtype(ScalarType dtype) { return TensorOptions(dtype); }
inline TensorOptions device(Device device) { return TensorOptions(device); }
inline TensorOptions layout(Layout layout) { return TensorOptions(layout); }
inline TensorOptions requires_grad(bool on = true) { return TensorOptions().requires_grad(on); }

TAPER_API std::ostream& operator<<(std::ostream& out, const TensorOptions& options);

}  // namespace taper
