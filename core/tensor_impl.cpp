#include "taper/core/tensor_impl.h"

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
  int64_t count = 1;
  bool dense = true;
  for (int i = dim() - 1; i >= 0; --i) {
    // A dimension of one element has no stride to speak of.
    dense &= sizes[i] == 1 || strides[i] == count;
    count *= sizes[i];
  }
  numel = count;
  is_contiguous = dense || count == 0;
}

void TensorImpl::set_contiguous(IntArrayRef new_sizes) {
  sizes.assign(new_sizes);
  const int rank = dim();
  int64_t* const step = strides.resize(rank);
  int64_t count = 1, stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    step[i] = stride;
    stride *= sizes[i] > 0 ? sizes[i] : 1;
    count *= sizes[i];
  }
  numel = count;
  is_contiguous = true;
}

void* TensorImpl::operator new(size_t size) { return detail::small_alloc(size); }

void TensorImpl::operator delete(void* memory, size_t size) { detail::small_free(memory, size); }

namespace detail {

void destroy(TensorImpl* impl) { delete impl; }

}  // namespace detail

}  // namespace taper
