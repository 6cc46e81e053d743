#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "taper/core/args.h"
#include "taper/core/array_ref.h"
#include "taper/core/device.h"
#include "taper/core/dtype.h"
#include "taper/core/generator.h"
#include "taper/core/options.h"
#include "taper/core/scalar.h"
#include "taper/core/tensor_accessor.h"
#include "taper/core/tensor_impl.h"
#include "taper/core/tensor_index.h"

namespace taper {

namespace cuda {
class Stream;
}

class Tensor;
using TensorList = ArrayRef<Tensor>;
using TensorPair = std::tuple<Tensor, Tensor>;
using TensorTriple = std::tuple<Tensor, Tensor, Tensor>;

/// The node of the tape that made a tensor: `x.grad_fn()->name()`.
class TAPER_API GradFn {
 public:
  GradFn() = default;
  explicit GradFn(autograd::Node* shared);
  GradFn(const GradFn& other);
  GradFn& operator=(const GradFn& other);
  ~GradFn();

  std::string name() const;
  /// The nodes that this one passes gradients to; leaves are "AccumulateGrad".
  std::vector<GradFn> next_functions() const;
  explicit operator bool() const { return node_ != nullptr; }
  bool operator==(std::nullptr_t) const { return node_ == nullptr; }
  bool operator==(const GradFn& other) const { return node_ == other.node_; }
  const GradFn* operator->() const { return this; }
  autograd::Node* node() const { return node_; }

 private:
  autograd::Node* node_ = nullptr;
};

/// How a loss combines its elements.
namespace Reduction {
enum Reduction : int64_t { None = 0, Mean = 1, Sum = 2 };
}

/// An n-dimensional array and its place in the tape. A handle: copies share the array, as in
/// PyTorch. `const` says nothing about the values. Default-made handles are undefined; only
/// `defined()` and assignment may be used on them. The methods of the ops come from ops.def.
class TAPER_API Tensor {
 public:
  Tensor() = default;
  explicit Tensor(TensorImplRef impl) : impl_(static_cast<TensorImplRef&&>(impl)) {}
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor& other) & {
    impl_ = other.impl_;
    return *this;
  }
  Tensor& operator=(Tensor&& other) & noexcept {
    impl_ = static_cast<TensorImplRef&&>(other.impl_);
    return *this;
  }
  /// `x[0] = y`, `x.index({...}) = y`: writes into the memory that the temporary views.
  Tensor& operator=(const Tensor& other) &&;
  Tensor& operator=(Tensor&& other) &&;
  Tensor& operator=(const Scalar& value) &&;

  // ---- What it is.
  bool defined() const { return static_cast<bool>(impl_); }
  void reset() { impl_ = TensorImplRef(); }
  bool is_same(const Tensor& other) const { return impl_.get() == other.impl_.get(); }
  int64_t dim() const { return impl().dim(); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return impl().numel; }
  IntArrayRef sizes() const { return impl().sizes; }
  IntArrayRef strides() const { return impl().strides; }
  /// Size of one dimension; negative ones count from the end.
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  int64_t storage_offset() const { return impl().offset; }
  Storage storage() const { return Storage(impl().storage); }
  bool is_alias_of(const Tensor& other) const {
    return impl().storage.get() == other.impl().storage.get();
  }
  ScalarType scalar_type() const { return impl().dtype; }
  TypeMeta dtype() const { return impl().dtype; }
  int64_t element_size() const { return static_cast<int64_t>(taper::element_size(impl().dtype)); }
  int64_t itemsize() const { return element_size(); }
  size_t nbytes() const { return static_cast<size_t>(numel() * element_size()); }
  Device device() const { return impl().storage->device; }
  int64_t get_device() const { return device().index(); }
  Layout layout() const { return kStrided; }
  TensorOptions options() const { return TensorOptions(scalar_type()).device(device()); }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_pinned() const { return impl().storage->pinned; }
  bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const { return impl().is_contiguous; }
  bool is_floating_point() const { return taper::is_floating_point(scalar_type()); }
  bool is_complex() const { return false; }
  bool is_signed() const { return taper::is_signed(scalar_type()); }
  bool is_nonzero() const;
  bool is_view() const { return impl().base != nullptr; }
  bool is_inference() const { return impl().is_inference; }
  uint32_t use_count() const { return impl_ ? impl_->references : 0; }
  std::string toString() const;
  void print() const;

  // ---- Its memory.
  /// Pointer to the first element. Throws unless T is the element type.
  template <class T>
  T* data_ptr() const {
    check_data_access(dtype_of<std::remove_const_t<T>>);
    return static_cast<T*>(impl().data());
  }
  void* data_ptr() const { return impl().data(); }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  const void* const_data_ptr() const { return data_ptr(); }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  /// Element access by indices on the CPU: `auto a = x.accessor<float, 2>(); a[i][j]`. Unchecked
  /// indices; dtype and rank are checked once.
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    check_accessor(dtype_of<std::remove_const_t<T>>, N);
    return TensorAccessor<T, N>(static_cast<T*>(impl().data()), impl().sizes.data(),
                                impl().strides.data());
  }
  template <class T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  /// The same for a CUDA kernel of the program's own: handed over by value, on any device. With
  /// 32-bit indices, throws for more elements than those can count.
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const& {
    check_packed_accessor(dtype_of<std::remove_const_t<T>>, N, true);
    return {static_cast<T*>(impl().data()), impl().sizes.data(), impl().strides.data()};
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() && = delete;
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const& {
    check_packed_accessor(dtype_of<std::remove_const_t<T>>, N, false);
    return {static_cast<T*>(impl().data()), impl().sizes.data(), impl().strides.data()};
  }
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() && = delete;
  /// Either, by its type of index.
  template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
            class Index = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, Index> generic_packed_accessor() const& {
    if constexpr (sizeof(Index) == 4) {
      return packed_accessor32<T, N, PtrTraits>();
    } else {
      return packed_accessor64<T, N, PtrTraits>();
    }
  }
  /// The one element, as a Scalar or as T. Throws unless there is exactly one.
  Scalar item() const;
  template <class T>
  T item() const {
    return item().to<T>();
  }

  // ---- Moving and casting. Returns self where nothing changes, unless `copy`.
  // Copies keep the order of dimensions, or with MemoryFormat::Contiguous are row-major.
  Tensor to(const TensorOptions& options, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(ScalarType dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(TypeMeta dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const {
    return to(dtype.type, non_blocking, copy, memory_format);
  }
  Tensor to(Device device, ScalarType dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor toType(ScalarType dtype) const { return to(dtype); }
  Tensor type_as(const Tensor& other) const { return to(other); }
  Tensor cpu() const { return to(Device(kCPU)); }
  Tensor cuda() const { return to(Device(kCUDA)); }
  /// A copy in memory that CUDA devices read directly; self where it is so already. Throws where
  /// there is no CUDA device.
  Tensor pin_memory() const;
  /// Its memory is used by work on this stream too: it is not reused before that has run.
  void record_stream(const cuda::Stream& stream) const;

  // ---- Indexing.
  Tensor operator[](int64_t index) const;
  Tensor operator[](const Scalar& index) const;
  Tensor operator[](const Tensor& index) const;
  Tensor index(ArrayRef<TensorIndex> indices) const;
  Tensor index(std::initializer_list<TensorIndex> indices) const {
    return index(ArrayRef<TensorIndex>(indices));
  }
  /// With `accumulate`, values are added, also where an element is named several times.
  Tensor& index_put_(ArrayRef<TensorIndex> indices, const Tensor& values, bool accumulate = false);
  Tensor& index_put_(ArrayRef<TensorIndex> indices, const Scalar& value);
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, const Tensor& values,
                     bool accumulate = false) {
    return index_put_(ArrayRef<TensorIndex>(indices), values, accumulate);
  }
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, const Scalar& value) {
    return index_put_(ArrayRef<TensorIndex>(indices), value);
  }

  /// The same on a copy.
  Tensor index_put(ArrayRef<TensorIndex> indices, const Tensor& values,
                   bool accumulate = false) const;
  Tensor index_put(std::initializer_list<TensorIndex> indices, const Tensor& values,
                   bool accumulate = false) const {
    return index_put(ArrayRef<TensorIndex>(indices), values, accumulate);
  }

  // ---- New tensors with this one's dtype and device, unless `options` says otherwise.
  Tensor new_empty(IntArrayRef size, const TensorOptions& options = {}) const;
  Tensor new_zeros(IntArrayRef size, const TensorOptions& options = {}) const;
  Tensor new_ones(IntArrayRef size, const TensorOptions& options = {}) const;
  Tensor new_full(IntArrayRef size, const Scalar& value, const TensorOptions& options = {}) const;

  // ---- The tape.
  bool requires_grad() const {
    return impl().requires_grad || impl().grad_fn != nullptr || view_requires_grad();
  }
  const Tensor& set_requires_grad(bool on) const;
  Tensor& requires_grad_(bool on = true) {
    set_requires_grad(on);
    return *this;
  }
  const Tensor& requires_grad_(bool on = true) const { return set_requires_grad(on); }
  bool is_leaf() const { return impl().grad_fn == nullptr && !view_requires_grad(); }
  /// The node that made this tensor; null for leaves.
  GradFn grad_fn() const;
  uint32_t output_nr() const { return impl().output_nr; }
  uint32_t _version() const;
  /// Computes gradients of the leaves this depends on, and adds them to their `.grad()`.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false, std::optional<TensorList> inputs = std::nullopt) const;
  /// The gradient; undefined where none was computed.
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  void retain_grad() const;
  bool retains_grad() const;
  /// Calls `hook` with the gradient of this tensor once it is complete; what it returns, if
  /// defined, replaces it. Returns a number for `remove_hook`.
  template <class F>
  unsigned register_hook(F&& hook) const {
    if constexpr (std::is_void_v<std::invoke_result_t<F, const Tensor&>>) {
      return add_hook([hook = std::forward<F>(hook)](const Tensor& grad) mutable {
        hook(grad);
        return Tensor();
      });
    } else {
      return add_hook(std::forward<F>(hook));
    }
  }
  void remove_hook(unsigned position) const;
  /// Same values, no history, shared version counter.
  Tensor detach() const;
  Tensor& detach_();
  /// Same values, no history, a version counter of its own: changes escape the tape's checks.
  Tensor variable_data() const;
  Tensor tensor_data() const { return detach(); }
  Tensor data() const { return variable_data(); }
  void set_data(const Tensor& new_data) const;

  // ---- Arithmetic in place.
  Tensor& operator+=(const Tensor& other) { return add_(other); }
  Tensor& operator+=(const Scalar& other) { return add_(other); }
  Tensor& operator-=(const Tensor& other) { return sub_(other); }
  Tensor& operator-=(const Scalar& other) { return sub_(other); }
  Tensor& operator*=(const Tensor& other) { return mul_(other); }
  Tensor& operator*=(const Scalar& other) { return mul_(other); }
  Tensor& operator/=(const Tensor& other) { return div_(other); }
  Tensor& operator/=(const Scalar& other) { return div_(other); }
  Tensor& operator&=(const Tensor& other) { return bitwise_and_(other); }
  Tensor& operator|=(const Tensor& other) { return bitwise_or_(other); }
  Tensor& operator^=(const Tensor& other) { return bitwise_xor_(other); }
  Tensor operator-() const { return neg(); }
  Tensor operator~() const { return bitwise_not(); }

  // ---- The methods of the catalogue.
#define TAPER_OP(result, name, policy, ...) result name(TAPER_DECLARE_ARGS(__VA_ARGS__)) const;
#define TAPER_OVERLOAD(result, name, ...) result name(TAPER_DECLARE_ARGS(__VA_ARGS__)) const;
#define TAPER_METHOD(result, name, policy, ...) result name(TAPER_DECLARE_ARGS(__VA_ARGS__)) const;
#define TAPER_INPLACE(name, ...) Tensor& name(TAPER_DECLARE_ARGS(__VA_ARGS__)) const;
#define TAPER_OUT(...)
#define TAPER_FUNCTION(...)
#define TAPER_FUNCTION_OVERLOAD(...)
#include "taper/core/ops.def"
#undef TAPER_OP
#undef TAPER_OVERLOAD
#undef TAPER_METHOD
#undef TAPER_INPLACE
#undef TAPER_OUT
#undef TAPER_FUNCTION
#undef TAPER_FUNCTION_OVERLOAD

  TensorImpl& impl() const {
    if (TAPER_UNLIKELY(!impl_)) fail_undefined();
    return *impl_.get();
  }
  TensorImpl* unsafe_impl() const { return impl_.get(); }
  TensorImpl* unsafeGetTensorImpl() const { return unsafe_impl(); }
  TensorImplRef& impl_ref() { return impl_; }
  const TensorImplRef& impl_ref() const { return impl_; }

 private:
  [[noreturn]] TAPER_COLD static void fail_undefined();
  void check_data_access(ScalarType wanted) const {
    if (TAPER_UNLIKELY(wanted != scalar_type())) fail_data_access(wanted);
  }
  [[noreturn]] TAPER_COLD void fail_data_access(ScalarType wanted) const;
  void check_accessor(ScalarType wanted, size_t rank) const;
  void check_packed_accessor(ScalarType wanted, size_t rank, bool is_32_bit) const;
  // A view takes part in its base's history: see autograd/view.cpp.
  bool view_requires_grad() const { return impl().base != nullptr && base_requires_grad(); }
  bool base_requires_grad() const;
  unsigned add_hook(std::function<Tensor(const Tensor&)> hook) const;

  TensorImplRef impl_;
};

/// Prints the values as PyTorch prints them, then "[ CPUFloatType{2,3} ]".
TAPER_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
/// With a limit on the width of a line, 80 by default.
TAPER_API std::ostream& print(std::ostream& out, const Tensor& tensor, int64_t line_width);

}  // namespace taper
