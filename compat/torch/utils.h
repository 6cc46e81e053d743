#pragma once

#include "torch/types.h"

namespace torch {

inline bool equal_if_defined(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || torch::equal(a, b));
}

}  // namespace torch
