#include "taper/core/device.h"

#include <charconv>
#include <ostream>
#include <string_view>

namespace taper {

namespace {

constexpr const char* name_of(DeviceType type) { return type == DeviceType::CPU ? "cpu" : "cuda"; }

}  // namespace

void Device::fail_index() const {
  TAPER_CHECK(index_ >= -1, "Device index must be -1 or non-negative, got ", int{index_});
  detail::fail<Error>("CPU device index must be -1 or zero, got ", int{index_});
}

Device::Device(const std::string& text) : type_(DeviceType::CPU), index_(-1) {
  TAPER_CHECK(!text.empty(), "Device string must not be empty");
  const size_t colon = text.find(':');
  const std::string_view type = std::string_view(text).substr(0, colon);
  if (type == "cuda") {
    type_ = DeviceType::CUDA;
  } else if (type != "cpu") {
    detail::fail<Error>(
        "Expected one of cpu, cuda device type at start of device string: ", std::string(type),
        ". Taper has these devices: \"cpu\", \"cuda\" (the current one), "
        "\"cuda:0\" and so on.");
  }
  if (colon == std::string::npos) return;
  const std::string_view digits = std::string_view(text).substr(colon + 1);
  int index = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  const bool leading_zero = digits.size() > 1 && digits[0] == '0';
  TAPER_CHECK(error == std::errc() && end == digits.data() + digits.size() && index >= 0 &&
                  index <= 127 && !leading_zero,
              "Invalid device string: '", text,
              "'. Expected a number from 0 to 127 after the colon.");
  *this = Device(type_, static_cast<DeviceIndex>(index));
}

std::string Device::str() const {
  std::string text = name_of(type_);
  if (has_index()) text += ":" + std::to_string(index_);
  return text;
}

std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << name_of(type); }

std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }

namespace detail {

MessageBuilder& operator<<(MessageBuilder& message, DeviceType type) {
  return message << name_of(type);
}

MessageBuilder& operator<<(MessageBuilder& message, const Device& device) {
  return message << device.str();
}

}  // namespace detail

}  // namespace taper
