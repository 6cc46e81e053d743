#include "bare.h"

#include "taper/kernels/backend.h"
#include "taper/kernels/cuda/blas_api.h"
#include "taper/kernels/cuda/library.h"
#include "taper/kernels/device_module.h"

namespace versus {

namespace blas = kernels::cuda::blas;
using blas::Algorithm;
using blas::Compute;
using blas::Handle;
using blas::Math;
using blas::Operation;

void copy_within_device(const Tensor& to, const Tensor& from) {
  const kernels::Stream stream = kernels::stream_for(to.device());
  kernels::check_runtime(
      kernels::cuda_module("cpu_vs_cuda")
          .runtime.copy(to.data_ptr(), stream.device, from.data_ptr(), stream.device, to.nbytes(),
                        stream, stream, /*non_blocking=*/true),
      "cpu_vs_cuda", to.device());
}

namespace {

void check(blas::Status status, const char* call) {
  TAPER_CHECK(status == blas::Status::kSuccess, call, ": cuBLAS status ", static_cast<int>(status));
}

// The library and a handle, both kept until the end.
struct Bare {
  blas::Calls calls{};
  std::string problem;
  Handle handle = nullptr;

  Bare() {
    static auto* const library =
        new kernels::cuda::Library({"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
#define VERSUS_LOOK_UP(name, arguments) \
  calls.name = reinterpret_cast<blas::Status(*) arguments>(library->symbol(#name));
    TAPER_BLAS_CALLS(VERSUS_LOOK_UP)
#undef VERSUS_LOOK_UP
    problem = library->problem();
    if (problem.empty()) check(calls.cublasCreate_v2(&handle), "cublasCreate_v2");
  }
};

cudaDataType type_of(ScalarType dtype) {
  switch (dtype) {
    case kDouble:
      return CUDA_R_64F;
    case kHalf:
      return CUDA_R_16F;
    case kBFloat16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

}  // namespace

std::function<void()> bare_product(const Work& work, const Tensor& a, const Tensor& b,
                                   const Tensor& c, std::string* why) {
  static const auto* const bare = new Bare;
  *why = bare->problem;
  if (!why->empty()) return nullptr;
  const auto stream = cuda::current_stream().stream();
  check(bare->calls.cublasSetStream_v2(bare->handle, stream), "cublasSetStream_v2");
  return [=] {
    static const double one = 1, zero = 0;
    static const float one_float = 1, zero_float = 0;
    const bool wide = work.dtype == kDouble;
    const cudaDataType type = type_of(work.dtype);
    const int m = static_cast<int>(work.m), n = static_cast<int>(work.n);
    const int k = static_cast<int>(work.k);
    // cuBLAS counts down columns: it is told of the transposed product, c' = b' a'.
    check(bare->calls.cublasGemmStridedBatchedEx(
              bare->handle, Operation::kAsStored, Operation::kAsStored, n, m, k,
              wide ? static_cast<const void*>(&one) : &one_float, b.data_ptr(), type, n,
              work.k * work.n, a.data_ptr(), type, k, work.m * work.k,
              wide ? static_cast<const void*>(&zero) : &zero_float, c.data_ptr(), type, n,
              work.m * work.n, static_cast<int>(work.batch),
              wide ? Compute::kDouble : Compute::kFloat, Algorithm::kDefault),
          "cublasGemmStridedBatchedEx");
  };
}

}  // namespace versus
