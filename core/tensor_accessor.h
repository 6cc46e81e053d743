#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/core/array_ref.h"
#include "taper/core/macros.h"

namespace taper {

/// How an accessor keeps its pointer: `RestrictPtrTraits` promises the compiler that nothing else
/// in the function reads or writes that memory.
template <class T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <class T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

/// Reads and writes the elements of a tensor by index, without checks: `a[i][j]`. It points to the
/// tensor's sizes and strides and is of use where they can be read: on the CPU.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = int64_t>
class TensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  TAPER_HOST_DEVICE TensorAccessor(PtrType data, const Index* sizes, const Index* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  TAPER_HOST_DEVICE decltype(auto) operator[](Index i) const {
    if constexpr (N == 1) {
      return (data_[i * strides_[0]]);
    } else {
      return TensorAccessor<T, N - 1, PtrTraits, Index>(data_ + i * strides_[0], sizes_ + 1,
                                                        strides_ + 1);
    }
  }
  TAPER_HOST_DEVICE Index size(Index dim) const { return sizes_[dim]; }
  TAPER_HOST_DEVICE Index stride(Index dim) const { return strides_[dim]; }
  ArrayRef<Index> sizes() const { return {sizes_, N}; }
  ArrayRef<Index> strides() const { return {strides_, N}; }
  TAPER_HOST_DEVICE PtrType data() const { return data_; }

 private:
  PtrType data_;
  const Index* sizes_;
  const Index* strides_;
};

/// The same with sizes and strides inside: what a program hands to a CUDA kernel of its own, by
/// value. With 32-bit indices (`PackedTensorAccessor32`) the kernel computes addresses faster.
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits,
          class Index = int64_t>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  GenericPackedTensorAccessor(PtrType data, const int64_t* sizes, const int64_t* strides)
      : data_(data) {
    for (size_t d = 0; d < N; ++d) {
      sizes_[d] = static_cast<Index>(sizes[d]);
      strides_[d] = static_cast<Index>(strides[d]);
    }
  }
  TAPER_HOST_DEVICE decltype(auto) operator[](Index i) const {
    return TensorAccessor<T, N, PtrTraits, Index>(data_, sizes_, strides_)[i];
  }
  TAPER_HOST_DEVICE Index size(Index dim) const { return sizes_[dim]; }
  TAPER_HOST_DEVICE Index stride(Index dim) const { return strides_[dim]; }
  TAPER_HOST_DEVICE PtrType data() const { return data_; }

 private:
  PtrType data_;
  Index sizes_[N];
  Index strides_[N];
};
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;
template <class T, size_t N, template <class> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;

}  // namespace taper
