#pragma once

#include <string>
#include <utility>
#include <vector>

#include "op_table/op_table.h"

namespace op_table {

/// Gradients of a case against PyTorch's; in float64 also against finite differences, once or
/// twice; through the in-place form; for transposed inputs and expanded gradients. Returns (what,
/// what is wrong).
std::vector<std::pair<std::string, std::string>> check_gradients(const Row& row, const Case& c);

}  // namespace op_table
