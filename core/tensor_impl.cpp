#include "taper/core/tensor_impl.h"

#include "taper/core/shape.h"
#include "taper/core/small_alloc.h"

namespace taper {

int64_t* Dims::resize_slow(int size) {
  if (size > kInline) {
    int64_t* const grown = new int64_t[static_cast<size_t>(size)];
    delete[] heap_;
    heap_ = grown;
  } else {
    delete[] heap_;
    heap_ = nullptr;
  }
  size_ = size;
  return data();
}

void Dims::grow_slow(int size) {
  int64_t* const grown = new int64_t[static_cast<size_t>(size)];
  const int64_t* const old = data();
  for (int i = 0; i < size_; ++i) grown[i] = old[i];
  delete[] heap_;
  heap_ = grown;
  size_ = size;
}

TensorImpl::~TensorImpl() {
  if (TAPER_UNLIKELY(grad_fn != nullptr || meta != nullptr || base != nullptr ||
                     version_override != nullptr)) {
    autograd::release_tape(*this);
  }
}

void TensorImpl::set_geometry(IntArrayRef new_sizes, IntArrayRef new_strides) {
  sizes.assign(new_sizes);
  strides.assign(new_strides);
  // Unsigned: where a size is 0, the product of others may wrap on its way to 0.
  uint64_t count = 1;
  bool dense = true;
  for (int i = dim() - 1; i >= 0; --i) {
    // A dimension of one element has no stride to speak of.
    dense &= sizes[i] == 1 || strides[i] == static_cast<int64_t>(count);
    count *= static_cast<uint64_t>(sizes[i]);
  }
  numel = static_cast<int64_t>(count);
  is_contiguous = dense || count == 0;
}

void TensorImpl::set_contiguous(IntArrayRef new_sizes, const char* op) {
  sizes.assign(new_sizes);
  const int rank = dim();
  int64_t* const step = strides.resize(rank);
  int64_t stride = 1;
  bool plain = true, empty = false;
  for (int i = rank - 1; i >= 0; --i) {
    step[i] = stride;
    empty |= sizes[i] == 0;
    plain &= sizes[i] >= 0;
    plain &= !__builtin_mul_overflow(stride, sizes[i] > 0 ? sizes[i] : 1, &stride);
  }
  // Element sizes are 8 at most. Large or odd shapes are looked at again, and exactly.
  if (TAPER_UNLIKELY(!plain || stride > INT64_MAX / 8)) check_dense(sizes, dtype, op);
  numel = empty ? 0 : stride;
  is_contiguous = true;
}

void* TensorImpl::operator new(size_t size) { return detail::small_alloc(size); }

void TensorImpl::operator delete(void* memory, size_t size) { detail::small_free(memory, size); }

namespace detail {

void destroy(TensorImpl* impl) { delete impl; }

}  // namespace detail

}  // namespace taper
