// Type promotion: tensors with dimensions count first, then zero-dimensional ones, then numbers; a
// lower rank changes the result only where it is of a higher kind (bool < integer < floating).

#include "taper/autograd/ops/op.h"

namespace taper {

namespace {

enum Rank { kDimensioned, kZeroDim, kNumber, kRanks };

int kind_of(ScalarType dtype) { return dtype == kBool ? 0 : is_floating_point(dtype) ? 2 : 1; }

class Promotion {
 public:
  void add(const Tensor& tensor) {
    const TensorImpl& impl = tensor.impl();
    add(impl.is_wrapped_number ? kNumber : impl.dim() > 0 ? kDimensioned : kZeroDim, impl.dtype);
  }
  void add(const Scalar& value) { add(kNumber, value.type()); }
  ScalarType result() const {
    ScalarType out = types_[kDimensioned];
    for (const Rank rank : {kZeroDim, kNumber}) {
      ScalarType type = types_[rank];
      if (type == ScalarType::Undefined) continue;
      if (rank == kNumber && is_floating_point(type)) type = get_default_dtype_as_scalartype();
      if (out == ScalarType::Undefined || kind_of(type) > kind_of(out)) out = type;
    }
    return out;
  }

 private:
  void add(Rank rank, ScalarType type) {
    ScalarType& slot = types_[rank];
    slot = slot == ScalarType::Undefined ? type : promote_types(slot, type);
  }
  ScalarType types_[kRanks] = {ScalarType::Undefined, ScalarType::Undefined, ScalarType::Undefined};
};

template <class A, class B>
ScalarType result_of(const A& a, const B& b) {
  Promotion promotion;
  promotion.add(a);
  promotion.add(b);
  return promotion.result();
}

}  // namespace

ScalarType result_type(const Tensor& a, const Tensor& b) {
  const TensorImpl &left = a.impl(), &right = b.impl();
  if (left.dtype == right.dtype && !left.is_wrapped_number && !right.is_wrapped_number) {
    return left.dtype;
  }
  return result_of(a, b);
}
ScalarType result_type(const Tensor& a, const Scalar& b) { return result_of(a, b); }
ScalarType result_type(const Scalar& a, const Tensor& b) { return result_of(a, b); }

ScalarType ops::result_type_of(TensorList tensors) {
  Promotion promotion;
  for (const Tensor& tensor : tensors) promotion.add(tensor);
  return promotion.result();
}

bool can_cast(ScalarType from, ScalarType to) { return kind_of(from) <= kind_of(to); }

}  // namespace taper
