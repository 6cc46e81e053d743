#include "taper/kernels/cuda/dnn.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "taper/kernels/cuda/blas.h"
#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/dnn_api.h"
#include "taper/kernels/cuda/library.h"
#include "taper/kernels/cuda/runtime.h"
#if !defined(TAPER_CUDA_HARDWARE)
#include "taper/kernels/emulator/libraries.h"
#endif

namespace taper::kernels::cuda {

namespace {

struct Dnn {
  dnn::Calls calls{};
  std::string problem;
};

#if defined(TAPER_CUDA_HARDWARE)
Dnn open_dnn() {
  // Never closed: its threads and memory live as long as the process.
  static auto* const library = new Library({"libcudnn.so.9", "libcudnn.so"});
  // Its parts need these two and seek them by name alone: opened before, they are found.
  static_cast<void>(blas_problem());  // and with cuBLAS libcublasLt
  static const auto* const compiler = new Library({"libnvrtc.so.13", "libnvrtc.so.12"});
  static_cast<void>(compiler);
  using namespace dnn;
  Dnn found;
#define TAPER_DNN_LOOK_UP(name, arguments) \
  found.calls.name = reinterpret_cast<dnn::Status(*) arguments>(library->symbol(#name));
  TAPER_DNN_CALLS(TAPER_DNN_LOOK_UP)
#undef TAPER_DNN_LOOK_UP
  found.calls.cudnnGetVersion = reinterpret_cast<size_t (*)()>(library->symbol("cudnnGetVersion"));
  found.calls.cudnnGetErrorString =
      reinterpret_cast<const char* (*)(dnn::Status)>(library->symbol("cudnnGetErrorString"));
  // It opens its parts when first called and aborts where one is not there. Those beside it are the
  // ones of its version.
  for (const char* const part : {"libcudnn_graph.so.9", "libcudnn_ops.so.9", "libcudnn_cnn.so.9"}) {
    library->open_part(part);
  }
  found.problem = library->problem();
  if (found.problem.empty() && found.calls.cudnnGetVersion() < 90000) {
    found.problem = "cuDNN " + std::to_string(found.calls.cudnnGetVersion()) +
                    " was found, and 9 or newer is needed";
  }
  return found;
}
#else
Dnn open_dnn() { return {emulator::dnn_calls(), emulator::library_problem()}; }
#endif

const Dnn& the_dnn() {
  static const auto* const found = new Dnn(open_dnn());
  return *found;
}

Status check(dnn::Status status, const char* call) {
  if (status == dnn::Status::kSuccess) return {};
  return library_failed(call, the_dnn().calls.cudnnGetErrorString(status),
                        static_cast<int>(status));
}
#define TAPER_DNN_TRY(name, ...) TAPER_TRY(check(the_dnn().calls.name(__VA_ARGS__), #name))

/// An algorithm with the kind of arithmetic that it was proposed for, and its workspace.
struct Proposal {
  int algorithm;
  dnn::Math math;
  size_t workspace;  ///< bytes
};

/// A problem with what was found out about it: descriptors, and what may be called for it, the best
/// first. None: cuDNN does not do this one.
struct Problem {
  dnn::Tensor in = nullptr, out = nullptr;
  dnn::Filter weight = nullptr;
  dnn::Convolution convolution = nullptr;
  std::vector<Proposal> proposals;

  Problem() = default;
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;
  ~Problem() {
    const dnn::Calls& calls = the_dnn().calls;
    if (in) calls.cudnnDestroyTensorDescriptor(in);
    if (out) calls.cudnnDestroyTensorDescriptor(out);
    if (weight) calls.cudnnDestroyFilterDescriptor(weight);
    if (convolution) calls.cudnnDestroyConvolutionDescriptor(convolution);
  }
};

using Key = std::array<int64_t, 19>;
Key key_of(ConvPass pass, const ConvPlan& p) {
  return {static_cast<int64_t>(pass),
          static_cast<int64_t>(p.dtype),
          p.batch,
          p.in_channels,
          p.in_h,
          p.in_w,
          p.out_channels,
          p.out_h,
          p.out_w,
          p.kernel_h,
          p.kernel_w,
          p.stride_h,
          p.stride_w,
          p.pad_h,
          p.pad_w,
          p.dilation_h,
          p.dilation_w,
          p.groups,
          p.tf32};
}

/// A handle knows one stream at a time: one caller at a time.
struct DeviceDnn {
  std::mutex mutex;
  dnn::Handle handle = nullptr;
  std::map<Key, Problem> problems;
};

DeviceDnn& of(int device) {
  static auto* const mutex = new std::mutex;
  static auto* const devices = new std::map<int, DeviceDnn>;
  const std::lock_guard lock(*mutex);
  return (*devices)[device];
}

dnn::DataType data_type(ScalarType dtype) {
  switch (dtype) {
    case kHalf:
      return dnn::DataType::kHalf;
    case kBFloat16:
      return dnn::DataType::kBFloat16;
    case kDouble:
      return dnn::DataType::kDouble;
    default:
      return dnn::DataType::kFloat;
  }
}

Status describe(Problem& to, const ConvPlan& p) {
  const auto n = [](int64_t size) { return static_cast<int>(size); };
  const dnn::DataType type = data_type(p.dtype);
  const bool halves = is_reduced_floating_point(p.dtype);
  TAPER_DNN_TRY(cudnnCreateTensorDescriptor, &to.in);
  TAPER_DNN_TRY(cudnnCreateTensorDescriptor, &to.out);
  TAPER_DNN_TRY(cudnnCreateFilterDescriptor, &to.weight);
  TAPER_DNN_TRY(cudnnCreateConvolutionDescriptor, &to.convolution);
  TAPER_DNN_TRY(cudnnSetTensor4dDescriptor, to.in, dnn::Format::kNchw, type, n(p.batch),
                n(p.in_channels), n(p.in_h), n(p.in_w));
  TAPER_DNN_TRY(cudnnSetTensor4dDescriptor, to.out, dnn::Format::kNchw, type, n(p.batch),
                n(p.out_channels), n(p.out_h), n(p.out_w));
  TAPER_DNN_TRY(cudnnSetFilter4dDescriptor, to.weight, type, dnn::Format::kNchw, n(p.out_channels),
                n(p.in_channels / p.groups), n(p.kernel_h), n(p.kernel_w));
  TAPER_DNN_TRY(cudnnSetConvolution2dDescriptor, to.convolution, n(p.pad_h), n(p.pad_w),
                n(p.stride_h), n(p.stride_w), n(p.dilation_h), n(p.dilation_w),
                dnn::Mode::kCrossCorrelation, halves ? dnn::DataType::kFloat : type);
  TAPER_DNN_TRY(cudnnSetConvolutionGroupCount, to.convolution, n(p.groups));
  // By default cuDNN takes TF32 for float.
  TAPER_DNN_TRY(cudnnSetConvolutionMathType, to.convolution,
                halves   ? dnn::Math::kTensorOp
                : p.tf32 ? dnn::Math::kDefault
                         : dnn::Math::kFma);
  return {};
}

/// Those of cuDNN's proposals that give the same result every time, ask for no more memory than is
/// sensible, and do not round float where that was not allowed.
Status choose(Problem& to, const ConvPlan& plan, ConvPass pass, dnn::Handle handle) {
  constexpr size_t kMostWorkspace = size_t{1} << 30;
  std::array<dnn::Choice, 10> choices{};
  const auto asked = static_cast<int>(choices.size());
  int count = 0;
  switch (pass) {
    case ConvPass::kForward:
      TAPER_DNN_TRY(cudnnGetConvolutionForwardAlgorithm_v7, handle, to.in, to.weight,
                    to.convolution, to.out, asked, &count, choices.data());
      break;
    case ConvPass::kData:
      TAPER_DNN_TRY(cudnnGetConvolutionBackwardDataAlgorithm_v7, handle, to.weight, to.out,
                    to.convolution, to.in, asked, &count, choices.data());
      break;
    case ConvPass::kWeight:
      TAPER_DNN_TRY(cudnnGetConvolutionBackwardFilterAlgorithm_v7, handle, to.in, to.out,
                    to.convolution, to.weight, asked, &count, choices.data());
      break;
  }
  for (int i = 0; i < count; ++i) {
    const dnn::Choice& choice = choices[static_cast<size_t>(i)];
    if (choice.status != dnn::Status::kSuccess || choice.memory > kMostWorkspace ||
        choice.determinism != dnn::Determinism::kYes ||
        (plan.dtype == kFloat && !plan.tf32 && choice.math != dnn::Math::kFma)) {
      continue;
    }
    to.proposals.push_back({choice.algorithm, choice.math, choice.memory});
  }
  return {};
}

/// Not a failure: cuDNN says that it does not do this, or not so.
bool is_refusal(const Status& status) {
  const auto code = static_cast<dnn::Status>(status.value);
  return !status.ok() && code >= dnn::Status::kBadParam && code < dnn::Status::kInternal;
}

Status find(DeviceDnn& mine, ConvPass pass, const ConvPlan& plan, Problem** found) {
  // Programs with ever new shapes must not fill the memory.
  constexpr size_t kMostProblems = 4096;
  const Key key = key_of(pass, plan);
  if (const auto known = mine.problems.find(key); known != mine.problems.end()) {
    *found = &known->second;
    return {};
  }
  if (mine.problems.size() >= kMostProblems) mine.problems.clear();
  Problem& made = mine.problems[key];
  Status status = describe(made, plan);
  if (status.ok()) status = choose(made, plan, pass, mine.handle);
  if (!status.ok() && !is_refusal(status)) {
    mine.problems.erase(key);
    return status;
  }
  *found = &made;
  return {};
}

/// What cuDNN takes for the size of the output.
int64_t window_size(int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
}

const LibraryChoice& choice() {
  static const auto* const read = new LibraryChoice(
      "TAPER_DNN", "cudnn", []() -> const std::string& { return the_dnn().problem; });
  return *read;
}

Status run(dnn::Handle handle, const Problem& p, const Proposal& proposal, ConvPass pass,
           const ConvArgs& args, const Stream& stream) {
  const size_t bytes = proposal.workspace;
  const Scratch<char> workspace(stream, static_cast<int64_t>(bytes));
  if (!workspace.status().ok()) return workspace.status();
  TAPER_DNN_TRY(cudnnSetConvolutionMathType, p.convolution, proposal.math);
  const double one_d = 1, zero_d = 0;
  const float one_f = 1, zero_f = 0;
  const bool wide = args.plan->dtype == kDouble;
  const void* const one = wide ? static_cast<const void*>(&one_d) : &one_f;
  const void* const zero = wide ? static_cast<const void*>(&zero_d) : &zero_f;
  switch (pass) {
    case ConvPass::kForward:
      TAPER_DNN_TRY(cudnnConvolutionForward, handle, one, p.in, args.image, p.weight, args.weight,
                    p.convolution, proposal.algorithm, workspace.get(), bytes, zero, p.out,
                    args.to);
      break;
    case ConvPass::kData:
      TAPER_DNN_TRY(cudnnConvolutionBackwardData, handle, one, p.weight, args.weight, p.out,
                    args.grad, p.convolution, proposal.algorithm, workspace.get(), bytes, zero,
                    p.in, args.to);
      break;
    case ConvPass::kWeight:
      TAPER_DNN_TRY(cudnnConvolutionBackwardFilter, handle, one, p.in, args.image, p.out, args.grad,
                    p.convolution, proposal.algorithm, workspace.get(), bytes, zero, p.weight,
                    args.to);
      break;
  }
  return {};
}

bool fits(int64_t n) { return n <= std::numeric_limits<int>::max(); }

}  // namespace

const std::string& dnn_problem() { return choice().problem(); }

int dnn_version() {
  return dnn_problem().empty() ? static_cast<int>(the_dnn().calls.cudnnGetVersion()) : 0;
}

bool suits_dnn(const ConvPlan& p) {
  if (!is_floating_point(p.dtype)) return false;
  // cuDNN counts a tensor's elements in 32 bits.
  const int64_t in = p.batch * p.in_channels * p.in_h * p.in_w;
  const int64_t out = p.batch * p.out_channels * p.out_h * p.out_w;
  const int64_t weights = p.out_channels * (p.in_channels / p.groups) * p.kernel_h * p.kernel_w;
  if (in == 0 || out == 0 || weights == 0 || !fits(in) || !fits(out) || !fits(weights)) {
    return false;
  }
  const bool usual =
      p.out_h == window_size(p.in_h, p.kernel_h, p.stride_h, p.pad_h, p.dilation_h) &&
      p.out_w == window_size(p.in_w, p.kernel_w, p.stride_w, p.pad_w, p.dilation_w);
  return usual && choice().is_library();
}

Status dnn_conv(ConvPass pass, const ConvArgs& args, const Stream& stream, bool* served) {
  *served = false;
  TAPER_TRY(choice().check());
  DeviceDnn& mine = of(stream.device);
  const std::lock_guard lock(mine.mutex);
  if (!mine.handle) {
    TAPER_TRY(create_handle([&] { return the_dnn().calls.cudnnCreate(&mine.handle); },
                            [](dnn::Status status) {
                              return status == dnn::Status::kNotInitialized ||
                                     status == dnn::Status::kHostAllocFailed ||
                                     status == dnn::Status::kDeviceAllocFailed;
                            },
                            [](dnn::Status status) { return check(status, "cudnnCreate"); }));
  }
  TAPER_DNN_TRY(cudnnSetStream, mine.handle, static_cast<cudaStream_t>(stream.handle));
  Problem* found = nullptr;
  TAPER_TRY(find(mine, pass, *args.plan, &found));
  // What cuDNN proposes it may refuse when called: then the next one is tried, from now on first.
  // Where memory is short, one that needs less may do; our own kernels need none.
  for (auto next = found->proposals.begin(); next != found->proposals.end();) {
    const Status status = run(mine.handle, *found, *next, pass, args, stream);
    *served = status.ok();
    if (is_refusal(status)) {
      next = found->proposals.erase(next);
    } else if (status.code == Code::kOutOfMemory) {
      ++next;
    } else {
      return status;
    }
  }
  return {};
}

}  // namespace taper::kernels::cuda
