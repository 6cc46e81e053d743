#pragma once

#include <string>

#include "taper/core/ivalue.h"

namespace taper::serialize::detail {

/// A value as JSON: numbers exactly, lists with their kind where it does not show. Not for tensors.
std::string value_to_text(const std::string& key, const IValue& value);
IValue value_from_text(const std::string& key, const std::string& text);

}  // namespace taper::serialize::detail
