#include "taper/kernels/cuda/blas_lt.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "taper/kernels/cuda/blas_describe.h"
#include "taper/kernels/cuda/blas_lt_api.h"
#include "taper/kernels/cuda/library.h"
#include "taper/kernels/cuda/runtime.h"
#if !defined(TAPER_CUDA_HARDWARE)
#include "taper/kernels/emulator/libraries.h"
#endif

namespace taper::kernels::cuda {

namespace {

struct BlasLt {
  blas_lt::Calls calls{};
  bool is_there = false;
};

#if defined(TAPER_CUDA_HARDWARE)
BlasLt open_blas_lt() {
  // Never closed: its threads and memory live as long as the process.
  static auto* const library =
      new Library({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"});
  using namespace blas_lt;
  BlasLt found;
#define TAPER_BLAS_LT_LOOK_UP(name, arguments) \
  found.calls.name = reinterpret_cast<blas::Status(*) arguments>(library->symbol(#name));
  TAPER_BLAS_LT_CALLS(TAPER_BLAS_LT_LOOK_UP)
#undef TAPER_BLAS_LT_LOOK_UP
  found.calls.cublasLtGetStatusName =
      reinterpret_cast<const char* (*)(blas::Status)>(library->symbol("cublasLtGetStatusName"));
  found.is_there = library->problem().empty();
  return found;
}
#else
BlasLt open_blas_lt() { return {emulator::blas_lt_calls(), emulator::library_problem().empty()}; }
#endif

const BlasLt& the_blas_lt() {
  static const auto* const found = new BlasLt(open_blas_lt());
  return *found;
}

Status check(blas::Status status, const char* call) {
  if (status == blas::Status::kSuccess) return {};
  return library_failed(call, the_blas_lt().calls.cublasLtGetStatusName(status),
                        static_cast<int>(status));
}
#define TAPER_BLAS_LT_TRY(name, ...) TAPER_TRY(check(the_blas_lt().calls.name(__VA_ARGS__), #name))

/// A kind of product with what was found out about it: its description, and the algorithm for it.
struct Problem {
  blas_lt::Description work = nullptr;
  blas_lt::Layout a = nullptr, b = nullptr, c = nullptr;
  blas_lt::Choice choice{};
  bool is_served = false;  ///< false: cuBLASLt does not do this one

  Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  ~Problem() {
    const blas_lt::Calls& calls = the_blas_lt().calls;
    if (work) calls.cublasLtMatmulDescDestroy(work);
    for (const blas_lt::Layout layout : {a, b, c}) {
      if (layout) calls.cublasLtMatrixLayoutDestroy(layout);
    }
  }
};

struct Wish {
  blas_lt::Preference preference = nullptr;
  Wish() = default;
  Wish(const Wish&) = delete;
  Wish& operator=(const Wish&) = delete;
  ~Wish() {
    if (preference) the_blas_lt().calls.cublasLtMatmulPreferenceDestroy(preference);
  }
};

/// The largest power of two, up to 256, that the address is a multiple of: the algorithm may build
/// on it, so it is part of the problem.
uint32_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data) | 256;
  return static_cast<uint32_t>(address & (~address + 1));
}

using Key = std::array<int64_t, 18>;
Key key_of(const GemmPlan& p) {
  return {static_cast<int64_t>(p.dtype),
          p.tf32,
          p.batch,
          p.m,
          p.n,
          p.k,
          p.lda,
          p.a_batch_stride,
          p.a_transposed,
          p.ldb,
          p.b_batch_stride,
          p.b_transposed,
          p.ldc,
          p.c_batch_stride,
          alignment_of(p.a),
          alignment_of(p.b),
          alignment_of(p.c),
          alignment_of(p.bias)};
}

/// A problem's description takes the bias of the next call: one caller at a time.
struct DeviceBlasLt {
  std::mutex mutex;
  blas_lt::Handle handle = nullptr;
  std::map<Key, Problem> problems;
};

DeviceBlasLt& of(int device) {
  static auto* const mutex = new std::mutex;
  static auto* const devices = new std::map<int, DeviceBlasLt>;
  const std::lock_guard lock(*mutex);
  return (*devices)[device];
}

Status describe(blas_lt::Layout* layout, const GemmPlan& p, bool transposed, int64_t rows,
                int64_t columns, int64_t stride, int64_t batch_stride) {
  if (transposed) std::swap(rows, columns);
  const auto batch = static_cast<int32_t>(p.batch);
  TAPER_BLAS_LT_TRY(cublasLtMatrixLayoutCreate, layout, blas_type(p.dtype),
                    static_cast<uint64_t>(rows), static_cast<uint64_t>(columns), stride);
  TAPER_BLAS_LT_TRY(cublasLtMatrixLayoutSetAttribute, *layout, blas_lt::LayoutAttribute::kBatch,
                    &batch, sizeof batch);
  TAPER_BLAS_LT_TRY(cublasLtMatrixLayoutSetAttribute, *layout,
                    blas_lt::LayoutAttribute::kBatchStride, &batch_stride, sizeof batch_stride);
  return {};
}

template <class T>
Status set(const Problem& problem, blas_lt::WorkAttribute attribute, const T& value) {
  TAPER_BLAS_LT_TRY(cublasLtMatmulDescSetAttribute, problem.work, attribute, &value, sizeof value);
  return {};
}

template <class T>
Status set(const Wish& wish, blas_lt::PreferenceAttribute attribute, const T& value) {
  TAPER_BLAS_LT_TRY(cublasLtMatmulPreferenceSetAttribute, wish.preference, attribute, &value,
                    sizeof value);
  return {};
}

// By columns, as cuBLAS counts, C is the transpose of ours: B comes first. The bias, a number for
// each row then, is the same for all matrices of the batch.
Status describe(Problem& to, const GemmPlan& p) {
  using blas_lt::WorkAttribute;
  TAPER_BLAS_LT_TRY(cublasLtMatmulDescCreate, &to.work, compute_of(p),
                    p.dtype == kDouble ? CUDA_R_64F : CUDA_R_32F);
  TAPER_TRY(set(to, WorkAttribute::kTransposeA, operation(p.b_transposed)));
  TAPER_TRY(set(to, WorkAttribute::kTransposeB, operation(p.a_transposed)));
  TAPER_TRY(set(to, WorkAttribute::kEpilogue, blas_lt::Epilogue::kBias));
  TAPER_TRY(set(to, WorkAttribute::kBias, p.bias));  // its alignment counts
  TAPER_TRY(describe(&to.a, p, p.b_transposed, p.n, p.k, p.ldb, p.b_batch_stride));
  TAPER_TRY(describe(&to.b, p, p.a_transposed, p.k, p.m, p.lda, p.a_batch_stride));
  return describe(&to.c, p, false, p.n, p.m, p.ldc, p.c_batch_stride);
}

Status choose(Problem& to, const GemmPlan& p, blas_lt::Handle handle, int device) {
  using blas_lt::PreferenceAttribute;
  Wish wish;
  TAPER_BLAS_LT_TRY(cublasLtMatmulPreferenceCreate, &wish.preference);
  TAPER_TRY(set(wish, PreferenceAttribute::kWorkspace, blas_workspace_bytes(device)));
  // Sums of halves stay in float from end to end.
  TAPER_TRY(set(wish, PreferenceAttribute::kReductions, blas_lt::kReduceInComputeType));
  TAPER_TRY(set(wish, PreferenceAttribute::kAlignmentA, alignment_of(p.b)));
  TAPER_TRY(set(wish, PreferenceAttribute::kAlignmentB, alignment_of(p.a)));
  TAPER_TRY(set(wish, PreferenceAttribute::kAlignmentC, alignment_of(p.c)));
  TAPER_TRY(set(wish, PreferenceAttribute::kAlignmentD, alignment_of(p.c)));
  int count = 0;
  TAPER_BLAS_LT_TRY(cublasLtMatmulAlgoGetHeuristic, handle, to.work, to.a, to.b, to.c, to.c,
                    wish.preference, 1, &to.choice, &count);
  to.is_served = count > 0 && to.choice.status == blas::Status::kSuccess;
  return {};
}

/// Not a failure: cuBLASLt says that it does not do this.
bool is_refusal(const Status& status) {
  const auto code = static_cast<blas::Status>(status.value);
  return !status.ok() &&
         (code == blas::Status::kInvalidValue || code == blas::Status::kArchMismatch ||
          code == blas::Status::kNotSupported);
}

Status find(DeviceBlasLt& mine, const GemmPlan& plan, int device, Problem** found) {
  // Programs with ever new shapes must not fill the memory.
  constexpr size_t kMostProblems = 4096;
  const Key key = key_of(plan);
  if (const auto known = mine.problems.find(key); known != mine.problems.end()) {
    *found = &known->second;
    return {};
  }
  if (mine.problems.size() >= kMostProblems) mine.problems.clear();
  Problem& made = mine.problems[key];
  Status status = describe(made, plan);
  if (status.ok()) status = choose(made, plan, mine.handle, device);
  if (!status.ok() && !is_refusal(status)) {
    mine.problems.erase(key);
    return status;
  }
  *found = &made;
  return {};
}

Status make_handle(DeviceBlasLt& mine) {
  if (mine.handle) return {};
  return create_handle([&] { return the_blas_lt().calls.cublasLtCreate(&mine.handle); },
                       [](blas::Status status) {
                         return status == blas::Status::kAllocFailed ||
                                status == blas::Status::kNotInitialized;
                       },
                       [](blas::Status status) { return check(status, "cublasLtCreate"); });
}

Status run(blas_lt::Handle handle, const Problem& problem, const GemmPlan& p,
           const Stream& stream) {
  const size_t bytes = problem.choice.workspace;
  const Scratch<char> workspace(stream, static_cast<int64_t>(bytes));
  if (!workspace.status().ok()) return workspace.status();
  TAPER_TRY(set(problem, blas_lt::WorkAttribute::kBias, p.bias));
  const Factor alpha(p, p.alpha.d), beta(p, 0);
  TAPER_BLAS_LT_TRY(cublasLtMatmul, handle, problem.work, alpha.get(), p.b, problem.a, p.a,
                    problem.b, beta.get(), p.c, problem.c, p.c, problem.c,
                    &problem.choice.algorithm, workspace.get(), bytes,
                    static_cast<cudaStream_t>(stream.handle));
  return {};
}

}  // namespace

Status blas_lt_gemm(const GemmPlan& plan, const Stream& stream, bool* served) {
  *served = false;
  if (!the_blas_lt().is_there) return {};
  DeviceBlasLt& mine = of(stream.device);
  const std::lock_guard lock(mine.mutex);
  TAPER_TRY(make_handle(mine));
  Problem* problem = nullptr;
  TAPER_TRY(find(mine, plan, stream.device, &problem));
  if (!problem->is_served) return {};
  const Status status = run(mine.handle, *problem, plan, stream);
  *served = status.ok();
  if (!is_refusal(status)) return status;
  problem->is_served = false;
  return {};
}

}  // namespace taper::kernels::cuda
