#include "taper/kernels/cuda/blas.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "taper/kernels/cuda/blas_api.h"
#include "taper/kernels/cuda/blas_describe.h"
#include "taper/kernels/cuda/blas_lt.h"
#include "taper/kernels/cuda/library.h"
#include "taper/kernels/cuda/runtime.h"
#if !defined(TAPER_CUDA_HARDWARE)
#include "taper/kernels/emulator/libraries.h"
#endif

namespace taper::kernels::cuda {

namespace {

struct Blas {
  blas::Calls calls{};
  std::string problem;
};

#if defined(TAPER_CUDA_HARDWARE)
Blas open_blas() {
  // Never closed: its threads and memory live as long as the process.
  static auto* const library = new Library({"libcublas.so.13", "libcublas.so.12", "libcublas.so"});
  Blas found;
#define TAPER_BLAS_LOOK_UP(name, arguments) \
  found.calls.name = reinterpret_cast<blas::Status(*) arguments>(library->symbol(#name));
  using namespace blas;
  TAPER_BLAS_CALLS(TAPER_BLAS_LOOK_UP)
#undef TAPER_BLAS_LOOK_UP
  found.calls.cublasGetStatusName =
      reinterpret_cast<const char* (*)(blas::Status)>(library->symbol("cublasGetStatusName"));
  found.problem = library->problem();
  int major = 0;
  if (found.problem.empty() &&
      (found.calls.cublasGetProperty(MAJOR_VERSION, &major) != Status::kSuccess || major < 12)) {
    found.problem = "cuBLAS " + std::to_string(major) + " was found, and 12 or newer is needed";
  }
  return found;
}
#else
Blas open_blas() { return {emulator::blas_calls(), emulator::library_problem()}; }
#endif

const Blas& the_blas() {
  static const auto* const found = new Blas(open_blas());
  return *found;
}

Status check(blas::Status status, const char* call) {
  if (status == blas::Status::kSuccess) return {};
  return library_failed(call, the_blas().calls.cublasGetStatusName(status),
                        static_cast<int>(status));
}
#define TAPER_BLAS_TRY(name, ...) TAPER_TRY(check(the_blas().calls.name(__VA_ARGS__), #name))

/// cuBLAS keeps what it knows of a device in a handle, and with it stream and workspace of the next
/// call: one caller at a time.
struct DeviceBlas {
  std::mutex mutex;
  blas::Handle handle = nullptr;
  bool is_ready = false;
};

DeviceBlas& of(int device) {
  static auto* const mutex = new std::mutex;
  static auto* const devices = new std::map<int, DeviceBlas>;
  const std::lock_guard lock(*mutex);
  return (*devices)[device];
}

Status make_handle(DeviceBlas& mine) {
  if (mine.is_ready) return {};
  if (!mine.handle) {
    TAPER_TRY(create_handle([&] { return the_blas().calls.cublasCreate_v2(&mine.handle); },
                            [](blas::Status status) {
                              return status == blas::Status::kAllocFailed ||
                                     status == blas::Status::kNotInitialized;
                            },
                            [](blas::Status status) { return check(status, "cublasCreate"); }));
  }
  // Sums of halves stay in float from end to end.
  TAPER_BLAS_TRY(cublasSetMathMode, mine.handle, blas::Math::kNoReducedPrecisionReduction);
  mine.is_ready = true;
  return {};
}

const LibraryChoice& choice() {
  static const auto* const read = new LibraryChoice(
      "TAPER_BLAS", "cublas", []() -> const std::string& { return the_blas().problem; });
  return *read;
}

bool fits(int64_t n) { return n <= std::numeric_limits<int>::max(); }

}  // namespace

const std::string& blas_problem() { return choice().problem(); }

int blas_version() {
  if (!blas_problem().empty()) return 0;
  int parts[3] = {};
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    if (the_blas().calls.cublasGetProperty(part, &parts[part]) != blas::Status::kSuccess) return 0;
  }
  return parts[MAJOR_VERSION] * 10000 + parts[MINOR_VERSION] * 100 + parts[PATCH_LEVEL];
}

bool suits_blas(const GemmPlan& p) {
  if (!is_floating_point(p.dtype) || p.k == 0) return false;
  if (!fits(p.m) || !fits(p.n) || !fits(p.k) || !fits(p.batch)) return false;
  if (!fits(p.lda) || !fits(p.ldb) || !fits(p.ldc)) return false;
  const bool described = p.lda >= (p.a_transposed ? p.m : p.k) &&
                         p.ldb >= (p.b_transposed ? p.k : p.n) && p.ldc >= p.n;
  return described && choice().is_library();
}

Status blas_gemm(const GemmPlan& p, const Stream& stream) {
  TAPER_TRY(choice().check());
  if (p.bias) {
    bool served = false;
    TAPER_TRY(blas_lt_gemm(p, stream, &served));
    if (served) return {};
    TAPER_TRY(fill_rows(p, stream));
  }
  const Factor alpha(p, p.alpha.d), beta(p, p.bias ? 1 : p.beta.d);
  const size_t bytes = blas_workspace_bytes(stream.device);
  const Scratch<char> workspace(stream, static_cast<int64_t>(bytes));
  if (!workspace.status().ok()) return workspace.status();
  DeviceBlas& mine = of(stream.device);
  const std::lock_guard lock(mine.mutex);
  TAPER_TRY(make_handle(mine));
  TAPER_BLAS_TRY(cublasSetStream_v2, mine.handle, static_cast<cudaStream_t>(stream.handle));
  // After the stream, which would set it back. Every call sets it: the block goes back to the
  // stream's cache when this one returns.
  TAPER_BLAS_TRY(cublasSetWorkspace_v2, mine.handle, workspace.get(), bytes);
  // By columns, as cuBLAS counts, C is the transpose of ours: B comes first.
  const cudaDataType type = blas_type(p.dtype);
  TAPER_BLAS_TRY(cublasGemmStridedBatchedEx, mine.handle, operation(p.b_transposed),
                 operation(p.a_transposed), static_cast<int>(p.n), static_cast<int>(p.m),
                 static_cast<int>(p.k), alpha.get(), p.b, type, static_cast<int>(p.ldb),
                 p.b_batch_stride, p.a, type, static_cast<int>(p.lda), p.a_batch_stride, beta.get(),
                 p.c, type, static_cast<int>(p.ldc), p.c_batch_stride, static_cast<int>(p.batch),
                 compute_of(p), blas::Algorithm::kDefault);
  return {};
}

}  // namespace taper::kernels::cuda
