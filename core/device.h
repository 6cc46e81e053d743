#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "taper/core/error.h"

namespace taper {

enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr int kNumDeviceTypes = 2;

using DeviceIndex = int8_t;

/// Where a tensor lives: "cpu", "cuda" (the current one) or "cuda:1".
struct TAPER_API Device {
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {
    if (TAPER_UNLIKELY(index < -1 || (index > 0 && is_cpu()))) fail_index();
  }
  /// Parses "cpu", "cuda", "cuda:1". Throws for others and says which devices exist.
  Device(const std::string& text);
  Device(const char* text) : Device(std::string(text)) {}

  DeviceType type() const { return type_; }
  /// -1 where none was given.
  DeviceIndex index() const { return index_; }
  bool has_index() const { return index_ >= 0; }
  void set_index(DeviceIndex index) { index_ = index; }
  bool is_cpu() const { return type_ == DeviceType::CPU; }
  bool is_cuda() const { return type_ == DeviceType::CUDA; }
  std::string str() const;

  bool operator==(const Device& other) const {
    return type_ == other.type_ && index_ == other.index_;
  }

 private:
  [[noreturn]] TAPER_COLD void fail_index() const;

  DeviceType type_;
  DeviceIndex index_;
};

TAPER_API std::ostream& operator<<(std::ostream& out, DeviceType type);
TAPER_API std::ostream& operator<<(std::ostream& out, const Device& device);
namespace detail {
TAPER_API MessageBuilder& operator<<(MessageBuilder& message, DeviceType type);
TAPER_API MessageBuilder& operator<<(MessageBuilder& message, const Device& device);
}  // namespace detail

}  // namespace taper
