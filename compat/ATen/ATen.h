#pragma once

#include "ATen/Context.h"
#include "ATen/Dispatch.h"
#include "ATen/Parallel.h"
#include "c10/core/DeviceGuard.h"
#include "c10/macros/Macros.h"
#include "c10/names.h"
#include "c10/util/Exception.h"
#include "c10/util/irange.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/core/tensor.h"

// Tensors, and the functions on them: what LibTorch keeps in at. See c10/names.h.

namespace at {

using namespace c10;

using ::taper::DefaultPtrTraits, ::taper::GenericPackedTensorAccessor,
    ::taper::PackedTensorAccessor32, ::taper::PackedTensorAccessor64, ::taper::RestrictPtrTraits,
    ::taper::TensorAccessor;
using ::taper::Generator, ::taper::Tensor, ::taper::TensorIndex, ::taper::TensorList;
using ::taper::kFloat16, ::taper::kFloat32, ::taper::kFloat64, ::taper::kInt16, ::taper::kInt32,
    ::taper::kInt64, ::taper::kInt8, ::taper::kUInt8;
namespace indexing = ::taper::indexing;
namespace Reduction = ::taper::Reduction;

// Every function of the catalogue.
#define TAPER_OP(result, name, ...) using ::taper::name;
#define TAPER_OVERLOAD(result, name, ...) using ::taper::name;
#define TAPER_FUNCTION(result, name, ...) using ::taper::name;
#define TAPER_FUNCTION_OVERLOAD(result, name, ...) using ::taper::name;
#define TAPER_INPLACE(name, ...) using ::taper::name;
#define TAPER_OUT(name, ...) using ::taper::name;
#define TAPER_OUT_OF_Tensor(name, ...) using ::taper::name##_out;
#define TAPER_OUT_OF_TensorPair(name, ...) using ::taper::name##_out;
#define TAPER_FUNCTION_OUT_OF(name, ...) using ::taper::name##_out;
#define TAPER_METHOD(...)
#include "taper/core/ops.def"
#undef TAPER_OP
#undef TAPER_OVERLOAD
#undef TAPER_FUNCTION
#undef TAPER_FUNCTION_OVERLOAD
#undef TAPER_INPLACE
#undef TAPER_OUT
#undef TAPER_METHOD

using ::taper::arange, ::taper::empty, ::taper::empty_like, ::taper::empty_strided, ::taper::eye,
    ::taper::from_blob, ::taper::full, ::taper::full_like, ::taper::linspace, ::taper::logspace,
    ::taper::normal, ::taper::ones, ::taper::ones_like, ::taper::rand, ::taper::rand_like,
    ::taper::randint, ::taper::randint_like, ::taper::randn, ::taper::randn_like, ::taper::randperm,
    ::taper::scalar_tensor, ::taper::tensor, ::taper::zeros, ::taper::zeros_like;
using ::taper::can_cast, ::taper::index_put, ::taper::print, ::taper::result_type;

using ::taper::CPUGeneratorImpl, ::taper::make_generator, ::taper::manual_seed;
using ::taper::NoGradGuard;
namespace detail {
using ::taper::detail::createCPUGenerator, ::taper::detail::getDefaultCPUGenerator;
}

}  // namespace at
