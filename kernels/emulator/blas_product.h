#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "taper/kernels/cuda/blas_api.h"
#include "taper/kernels/emulator/numbers.h"

// What cuBLAS and cuBLASLt share: the product itself, and the names of statuses.

namespace taper::emulator {

struct Matrix {
  void* data;
  int64_t stride, batch_stride;
  bool transposed;
};
struct Product {
  int m, n, k, batch;
  double alpha, beta;
  Matrix a, b, c;
  const void* bias;  ///< a number for each row of c, or null
};

/// By columns: (i, j) of a matrix that is not transposed is data[j * stride + i].
template <class T>
void multiply(const Product& p) {
  using C = decltype(widen(T()));
  std::vector<C> column(static_cast<size_t>(p.k)), sums(static_cast<size_t>(p.m));
  std::vector<C> rows(static_cast<size_t>(p.m) * static_cast<size_t>(p.k));
  for (int64_t matrix = 0; matrix < p.batch; ++matrix) {
    const T* const a = static_cast<const T*>(p.a.data) + matrix * p.a.batch_stride;
    const T* const b = static_cast<const T*>(p.b.data) + matrix * p.b.batch_stride;
    T* const c = static_cast<T*>(p.c.data) + matrix * p.c.batch_stride;
    for (int64_t k = 0; k < p.k; ++k) {
      for (int64_t i = 0; i < p.m; ++i) {
        rows[static_cast<size_t>(k * p.m + i)] =
            widen(a[p.a.transposed ? i * p.a.stride + k : k * p.a.stride + i]);
      }
    }
    for (int64_t j = 0; j < p.n; ++j) {
      std::fill(sums.begin(), sums.end(), C(0));
      for (int64_t k = 0; k < p.k; ++k) {
        const C factor = widen(b[p.b.transposed ? k * p.b.stride + j : j * p.b.stride + k]);
        const C* const row = rows.data() + k * p.m;
        for (int i = 0; i < p.m; ++i) sums[static_cast<size_t>(i)] += row[i] * factor;
      }
      for (int64_t i = 0; i < p.m; ++i) {
        T& to = c[j * p.c.stride + i];
        C sum = static_cast<C>(p.alpha) * sums[static_cast<size_t>(i)];
        if (p.beta != 0) sum += static_cast<C>(p.beta) * widen(to);
        if (p.bias) sum += widen(static_cast<const T*>(p.bias)[i]);
        narrow(sum, to);
      }
    }
  }
}

inline void multiply(cudaDataType type, const Product& p) {
  with_type(type, [&](auto element) { multiply<decltype(element)>(p); });
}

inline const char* blas_status_name(kernels::cuda::blas::Status status) {
  switch (static_cast<int>(status)) {
    case 0:
      return "CUBLAS_STATUS_SUCCESS";
    case 1:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case 3:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case 7:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case 8:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case 13:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case 14:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case 15:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
      return "cublas unknown status";
  }
}

}  // namespace taper::emulator
