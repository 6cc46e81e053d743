// What a tensor says of itself: the methods of Tensor that run no op of the catalogue.

#include "taper/core/tensor.h"

#include <algorithm>
#include <limits>
#include <sstream>

#include "taper/autograd/ops/op.h"

namespace taper {

void Tensor::fail_undefined() {
  detail::fail<Error>(
      "an undefined tensor was used. It was default-constructed, moved from, or is a "
      "gradient that was never computed; check defined() first.");
}

void Tensor::fail_data_access(ScalarType wanted) const {
  detail::fail<TypeError>("expected scalar type ", wanted, " but found ", scalar_type());
}

void Tensor::check_accessor(ScalarType wanted, size_t rank) const {
  check_data_access(wanted);
  TAPER_CHECK(dim() == static_cast<int64_t>(rank), "TensorAccessor expected ", rank,
              " dims but tensor has ", dim());
  TAPER_CHECK(is_cpu(), "accessor: expected a tensor on the CPU, but this one is on ", device(),
              ". Call cpu() first.");
}

void Tensor::check_packed_accessor(ScalarType wanted, size_t rank, bool is_32_bit) const {
  check_data_access(wanted);
  TAPER_CHECK(dim() == static_cast<int64_t>(rank), "packed_accessor", is_32_bit ? 32 : 64,
              ": expected a tensor of ", rank, " dimensions, but this one has ", dim());
  if (!is_32_bit || numel() == 0) return;
  int64_t reach = 0;  // from the first element to the last
  for (int64_t d = 0; d < dim(); ++d) reach += (size(d) - 1) * stride(d);
  TAPER_CHECK(
      std::max(reach, numel()) <= std::numeric_limits<int32_t>::max(),
      "packed_accessor32: expected elements that 32-bit indices reach, but this tensor has ",
      numel(), ", the last one ", reach, " after the first. Use packed_accessor64.");
}

int64_t Tensor::size(int64_t dim) const {
  return impl().sizes[static_cast<int>(wrap_dim(dim, this->dim()))];
}
int64_t Tensor::stride(int64_t dim) const {
  return impl().strides[static_cast<int>(wrap_dim(dim, this->dim()))];
}

namespace {

template <class T>
Scalar read(const void* data) {
  return Scalar(*static_cast<const T*>(data));
}

}  // namespace

Scalar Tensor::item() const {
  TAPER_CHECK(numel() == 1, "a Tensor with ", numel(), " elements cannot be converted to Scalar");
  if (!is_cpu()) return cpu().item();
  const void* data = impl().data();
  switch (scalar_type()) {
#define TAPER_READ(type, name, python) \
  case ScalarType::name:               \
    return read<type>(data);
    TAPER_FORALL_DTYPES(TAPER_READ)
#undef TAPER_READ
    case ScalarType::Undefined:
      break;
  }
  fail_undefined();
}

bool Tensor::is_nonzero() const {
  TAPER_CHECK(numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TAPER_CHECK(numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
  return item().toBool();
}

std::string Tensor::toString() const {
  if (!defined()) return "UndefinedType";
  return (is_cuda() ? "CUDA" : "CPU") + std::string(to_string(scalar_type())) + "Type";
}

}  // namespace taper
