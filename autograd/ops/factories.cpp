// Factories: tensors made from a shape, a rule or values. Random ones are in random.cpp.

#include "taper/core/factories.h"

#include <cmath>

#include "taper/autograd/ops/op.h"
#include "taper/core/cuda.h"
#include "taper/core/default_device.h"
#include "taper/kernels/device_module.h"

namespace taper {

using ops::Value;
using ops::value_of;

namespace {

// Plain members: set before main runs by the tests, so no constructor may undo it.
struct {
  DeviceType type = kCPU;
  DeviceIndex index = -1;
} default_device;

// Pinned memory is always the host's.
Device device_of(const TensorOptions& options) {
  if (options.has_device() || options.pinned_memory()) return options.device();
  return {default_device.type, default_device.index};
}

Tensor finish(Tensor out, const TensorOptions& options) {
  if (options.pinned_memory()) out = out.pin_memory();
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

Tensor uninitialised(const char* op, IntArrayRef size, const TensorOptions& options) {
  return ops::new_result(size, options.dtype(), device_of(options), op);
}

Tensor filled(const char* op, IntArrayRef size, const Scalar& value, const TensorOptions& options) {
  const Tensor out = uninitialised(op, size, options);
  ops::fill_values(out, ops::value_to_fill(value, options.dtype(), out.numel()));
  return finish(out, options);
}

TensorOptions options_like(const Tensor& self, const TensorOptions& options) {
  TensorOptions merged = options;
  if (!options.has_dtype()) merged = merged.dtype(self.scalar_type());
  if (!options.has_device()) merged = merged.device(self.device());
  return merged;
}

Tensor uninitialised_like(const Tensor& self, const TensorOptions& options,
                          std::optional<MemoryFormat> format) {
  ops::check_defined("empty_like", self, "self");
  const Tensor out = ops::new_result(self.sizes(), options.dtype(), options.device(), "empty_like");
  if (format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve) ops::keep_order(out, self);
  return out;
}

Tensor filled_like(const Tensor& self, const Scalar& value, const TensorOptions& options,
                   std::optional<MemoryFormat> format) {
  const TensorOptions merged = options_like(self, options);
  const Tensor out = uninitialised_like(self, merged, format);
  ops::fill_values(out, ops::value_to_fill(value, merged.dtype(), out.numel()));
  return finish(out, merged);
}

void fill_range(const Tensor& out, Value start, Value step, Value end, bool symmetric,
                const char* op) {
  ops::check(ops::kernels_of(out).range(out.data_ptr(), out.scalar_type(), out.numel(), start, step,
                                        end, symmetric, ops::stream_of(out)),
             op);
}

}  // namespace

Tensor empty(IntArrayRef size, const TensorOptions& options) {
  return finish(uninitialised("empty", size, options), options);
}

Tensor empty(IntArrayRef size, const TensorOptions& options,
             std::optional<MemoryFormat> memory_format) {
  TAPER_CHECK(memory_format != MemoryFormat::Preserve, "empty: unsupported memory format Preserve");
  return empty(size, options);
}

// LibTorch's new_... do not look at requires_grad.
Tensor Tensor::new_empty(IntArrayRef size, const TensorOptions& options) const {
  return empty(size, options_like(*this, options).requires_grad(false));
}
Tensor Tensor::new_zeros(IntArrayRef size, const TensorOptions& options) const {
  return zeros(size, options_like(*this, options).requires_grad(false));
}
Tensor Tensor::new_ones(IntArrayRef size, const TensorOptions& options) const {
  return ones(size, options_like(*this, options).requires_grad(false));
}
Tensor Tensor::new_full(IntArrayRef size, const Scalar& value, const TensorOptions& options) const {
  return full(size, value, options_like(*this, options).requires_grad(false));
}

Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions& options) {
  TAPER_CHECK(size.size() == stride.size(), "empty_strided: dimensionality of sizes (", size.size(),
              ") must match dimensionality of strides (", stride.size(), ")");
  checked_numel(size, "empty_strided");
  const int64_t extent = checked_extent(size, stride, "empty_strided");
  const Tensor out = uninitialised("empty_strided", extent, options);
  out.impl().set_geometry(size, stride);
  return finish(out, options);
}

Tensor zeros(IntArrayRef size, const TensorOptions& options) {
  return filled("zeros", size, 0, options);
}
Tensor ones(IntArrayRef size, const TensorOptions& options) {
  return filled("ones", size, 1, options);
}
Tensor full(IntArrayRef size, const Scalar& value, const TensorOptions& options) {
  const ScalarType natural = value.isFloatingPoint() ? ScalarType(get_default_dtype())
                             : value.isBoolean()     ? kBool
                                                     : kLong;
  const TensorOptions typed = options.has_dtype() ? options : options.dtype(natural);
  return filled("full", size, value, typed);
}
Tensor scalar_tensor(const Scalar& value, const TensorOptions& options) {
  return filled("scalar_tensor", {}, value, options);
}

Tensor empty_like(const Tensor& self, const TensorOptions& options,
                  std::optional<MemoryFormat> format) {
  const TensorOptions merged = options_like(self, options);
  return finish(uninitialised_like(self, merged, format), merged);
}
Tensor zeros_like(const Tensor& self, const TensorOptions& options,
                  std::optional<MemoryFormat> format) {
  return filled_like(self, 0, options, format);
}
Tensor ones_like(const Tensor& self, const TensorOptions& options,
                 std::optional<MemoryFormat> format) {
  return filled_like(self, 1, options, format);
}
Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options) {
  return filled_like(self, value, options, std::nullopt);
}

Tensor arange(const Scalar& end, const TensorOptions& options) {
  return arange(0, end, 1, options);
}
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options) {
  return arange(start, end, 1, options);
}
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step,
              const TensorOptions& options) {
  const bool whole = start.isIntegral(true) && end.isIntegral(true) && step.isIntegral(true);
  const TensorOptions typed = options.has_dtype()
                                  ? options
                                  : options.dtype(whole ? kLong : ScalarType(get_default_dtype()));
  const double from = start.toDouble(), to = end.toDouble(), by = step.toDouble();
  TAPER_CHECK(by != 0, "arange: step must be nonzero");
  TAPER_CHECK(std::isfinite(from) && std::isfinite(to), "arange: unsupported range: ", from, " -> ",
              to);
  TAPER_CHECK((by > 0) == (to >= from) || to == from,
              "arange: upper bound and lower bound inconsistent with step sign: ", from, " -> ", to,
              " by ", by);
  int64_t count = 0;
  if (whole) {
    const int64_t stride = step.toLong();
    int64_t distance, room;
    const bool overflow = __builtin_sub_overflow(end.toLong(), start.toLong(), &distance) ||
                          __builtin_add_overflow(distance, stride, &room);
    TAPER_CHECK(!overflow, "arange: invalid size, possible overflow?");
    count = distance == 0 ? 0 : (distance + stride - (stride > 0 ? 1 : -1)) / stride;
  } else {
    const double steps = std::ceil((to - from) / by);
    TAPER_CHECK(steps < 0x1p62, "arange: invalid size, possible overflow?");
    count = static_cast<int64_t>(steps);
  }
  const Tensor out = uninitialised("arange", count, typed);
  // Numbers out of int64's range have no meaning there; narrower types wrap, as in PyTorch.
  const ScalarType checked = is_floating_point(typed.dtype()) ? kDouble : kLong;
  fill_range(out, value_of(start, checked), value_of(step, checked), value_of(end, checked), false,
             "arange");
  return finish(out, typed);
}

Tensor linspace(const Scalar& start, const Scalar& end, int64_t steps,
                const TensorOptions& options) {
  TAPER_CHECK(steps >= 0, "linspace: number of steps must be non-negative, got ", steps);
  const Tensor out = uninitialised("linspace", steps, options);
  const double step =
      steps > 1 ? (end.toDouble() - start.toDouble()) / static_cast<double>(steps - 1) : 0;
  start.check_fits(options.dtype());
  end.check_fits(options.dtype());
  fill_range(out, Value(start.toDouble()), Value(step),
             Value(steps > 1 ? end.toDouble() : start.toDouble()), true, "linspace");
  return finish(out, options);
}

Tensor logspace(const Scalar& start, const Scalar& end, int64_t steps, double base,
                const TensorOptions& options) {
  const Tensor exponents =
      linspace(start, end, steps, TensorOptions(kDouble).device(device_of(options)));
  return finish(taper::pow(Scalar(base), exponents).to(options.dtype()), options);
}

Tensor eye(int64_t n, const TensorOptions& options) { return eye(n, n, options); }
Tensor eye(int64_t n, int64_t m, const TensorOptions& options) {
  TAPER_CHECK(n >= 0 && m >= 0, "eye: n and m must be greater or equal to 0, got ", n, " and ", m);
  const Tensor out = zeros({n, m}, options.requires_grad(false));
  out.diagonal().fill_(1);
  return finish(out, options);
}

// ---- Memory of somebody else.

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 std::function<void(void*)> deleter, const TensorOptions& options) {
  TAPER_CHECK(sizes.size() == strides.size(), "from_blob: got ", sizes.size(), " sizes and ",
              strides.size(), " strides");
  checked_numel(sizes, "from_blob");
  const int64_t extent = checked_extent(sizes, strides, "from_blob");
  TAPER_CHECK(data || extent == 0, "from_blob: the pointer is null");
  const Device device = detail::resolve(options.device());
  if (device.is_cuda() && data) kernels::check_memory_of(data, device, "from_blob");
  auto* owned = deleter ? new std::function<void(void*)>(std::move(deleter)) : nullptr;
  TensorImplRef impl(new TensorImpl);
  impl->dtype = options.dtype();
  impl->storage = borrow_storage(
      data, static_cast<size_t>(extent) * element_size(impl->dtype), device,
      [](void* context, void* memory) {
        if (auto* call = static_cast<std::function<void(void*)>*>(context)) {
          (*call)(memory);
          delete call;
        }
      },
      owned);
  impl->set_geometry(sizes, strides);
  return finish(Tensor(std::move(impl)), options);
}

Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options) {
  return from_blob(data, sizes, contiguous_strides(sizes), nullptr, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options) {
  return from_blob(data, sizes, strides, nullptr, options);
}
Tensor from_blob(void* data, IntArrayRef sizes, std::function<void(void*)> deleter,
                 const TensorOptions& options) {
  return from_blob(data, sizes, contiguous_strides(sizes), std::move(deleter), options);
}

// ---- Values.

namespace detail {

void set_default_device(Device device) { default_device = {device.type(), device.index()}; }

TensorDataContainer::TensorDataContainer(std::initializer_list<TensorDataContainer> items)
    : dtype_(get_default_dtype_as_scalartype()), is_list_(true) {
  sizes_.push_back(static_cast<int64_t>(items.size()));
  if (items.size() == 0) return;
  const TensorDataContainer& first = *items.begin();
  dtype_ = first.dtype_;
  sizes_.insert(sizes_.end(), first.sizes_.begin(), first.sizes_.end());
  for (const TensorDataContainer& item : items) {
    TAPER_CHECK(item.sizes_ == first.sizes_,
                "Expected all sub-lists to have sizes: ", IntArrayRef(first.sizes_),
                ", but got sub-list with sizes: ", IntArrayRef(item.sizes_));
    TAPER_CHECK(item.dtype_ == first.dtype_,
                "Expected all elements of the tensor to have the same "
                "scalar type: ",
                first.dtype_, ", but got element of scalar type: ", item.dtype_);
    if (item.is_list_) {
      values_.insert(values_.end(), item.values_.begin(), item.values_.end());
    } else {
      values_.push_back(item.scalar_);
    }
  }
}

}  // namespace detail

namespace {

template <class T>
void write_values(void* data, const std::vector<Scalar>& values) {
  T* out = static_cast<T*>(data);
  for (size_t i = 0; i < values.size(); ++i) {
    // PyTorch lets halves overflow to infinity here, and here only.
    if constexpr (is_reduced_floating_point(dtype_of<T>)) {
      out[i] = static_cast<T>(values[i].toDouble());
    } else {
      out[i] = values[i].to<T>();
    }
  }
}

}  // namespace

Tensor tensor(detail::TensorDataContainer data, const TensorOptions& options) {
  const ScalarType dtype = options.dtype_opt().value_or(data.dtype());
  const Tensor out = uninitialised("tensor", data.sizes(), options.dtype(dtype).device(kCPU));
  const std::vector<Scalar> single{data.scalar()};
  const std::vector<Scalar>& values = data.is_scalar() ? single : data.values();
  switch (dtype) {
#define TAPER_WRITE(type, name, python)         \
  case ScalarType::name:                        \
    write_values<type>(out.data_ptr(), values); \
    break;
    TAPER_FORALL_DTYPES(TAPER_WRITE)
#undef TAPER_WRITE
    case ScalarType::Undefined:
      break;
  }
  const Device device = device_of(options);
  return finish(device.is_cpu() ? out : out.to(device), options.dtype(dtype));
}

TypeMeta get_default_dtype() { return get_default_dtype_as_scalartype(); }

}  // namespace taper
