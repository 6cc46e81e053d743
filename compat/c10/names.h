#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "taper/autograd/grad_mode.h"
#include "taper/core/factories.h"
#include "taper/core/ivalue.h"
#include "taper/core/tensor.h"

// What LibTorch keeps in c10, under that name. These are using-declarations rather than one
// directive: with `using namespace torch` a directive would make `nn` mean two namespaces.

namespace c10 {

using ::taper::ArrayRef, ::taper::IntArrayRef, ::taper::OptionalIntArrayRef;
template <class T>
using OptionalArrayRef =
    std::conditional_t<std::is_same_v<T, int64_t>, OptionalIntArrayRef, std::optional<ArrayRef<T>>>;

using std::in_place, std::make_optional, std::nullopt, std::nullopt_t, std::optional,
    std::string_view;

using ::taper::BFloat16, ::taper::Half, ::taper::IValue, ::taper::Scalar;
using ::taper::Device, ::taper::DeviceIndex, ::taper::DeviceType, ::taper::kCPU, ::taper::kCUDA;
using ::taper::device, ::taper::dtype, ::taper::kStrided, ::taper::Layout, ::taper::layout,
    ::taper::MemoryFormat, ::taper::requires_grad, ::taper::TensorOptions;

using ::taper::get_default_dtype, ::taper::get_default_dtype_as_scalartype,
    ::taper::set_default_dtype;
using ::taper::kBFloat16, ::taper::kBool, ::taper::kByte, ::taper::kChar, ::taper::kDouble,
    ::taper::kFloat, ::taper::kHalf, ::taper::kInt, ::taper::kLong, ::taper::kShort;
using ::taper::ScalarType, ::taper::TypeMeta;

template <class T>
TensorOptions dtype() {
  return TensorOptions(::taper::dtype_of<T>);
}
template <class T>
struct CppTypeToScalarType
    : std::integral_constant<ScalarType, ::taper::dtype_of<std::remove_cv_t<T>>> {};
inline ScalarType typeMetaToScalarType(TypeMeta dtype) { return dtype; }
inline TypeMeta scalarTypeToTypeMeta(ScalarType dtype) { return dtype; }
inline const char* toString(ScalarType dtype) { return ::taper::to_string(dtype); }
inline size_t elementSize(ScalarType dtype) { return ::taper::element_size(dtype); }
inline bool isFloatingType(ScalarType dtype) { return ::taper::is_floating_point(dtype); }
inline bool isReducedFloatingType(ScalarType dtype) {
  return ::taper::is_reduced_floating_point(dtype);
}
inline bool isIntegralType(ScalarType dtype, bool include_bool) {
  return ::taper::is_integral(dtype, include_bool);
}
inline bool isComplexType(ScalarType) { return false; }
inline bool isSignedType(ScalarType dtype) { return ::taper::is_signed(dtype); }
inline ScalarType promoteTypes(ScalarType a, ScalarType b) { return ::taper::promote_types(a, b); }

using ::taper::AutoGradMode, ::taper::GradMode, ::taper::InferenceMode;

using ::taper::Error, ::taper::IndexError, ::taper::NotImplementedError, ::taper::OutOfMemoryError,
    ::taper::TypeError, ::taper::ValueError;

}  // namespace c10

/// Devices as keys: one number of type and index, as both are a byte.
template <>
struct std::hash<::taper::Device> {
  size_t operator()(const ::taper::Device& device) const noexcept {
    return static_cast<size_t>(static_cast<uint8_t>(device.type())) << 8 |
           static_cast<uint8_t>(device.index());
  }
};

namespace caffe2 {
using ::taper::TypeMeta;
}
