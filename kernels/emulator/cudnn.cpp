#include <algorithm>
#include <vector>

#include "taper/kernels/emulator/libraries.h"
#include "taper/kernels/emulator/machine.h"
#include "taper/kernels/emulator/numbers.h"

// cuDNN, the calls in dnn_api.h: convolutions by their definition.

namespace taper::kernels::cuda::dnn {

/// What a Handle and the descriptors point to.
struct Context {
  int device = 0;
  cudaStream_t stream = nullptr;
};
struct TensorShape {
  DataType type = DataType::kFloat;
  int n = 0, c = 0, h = 0, w = 0;
};
struct FilterShape {
  DataType type = DataType::kFloat;
  int k = 0, c = 0, h = 0, w = 0;
};
struct ConvolutionShape {
  int pad_h = 0, pad_w = 0, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, groups = 1;
  DataType compute = DataType::kFloat;
  Math math = Math::kDefault;
};

}  // namespace taper::kernels::cuda::dnn

namespace taper::emulator {

namespace {

using namespace kernels::cuda::dnn;

/// Of a call that fails because it was asked to, or because the device is lost.
Status refusal(const Entry& entry) {
  return entry.injected() ? static_cast<Status>(entry.injected()) : Status::kFailed;
}
/// Takes the call's place and an injected failure.
#define TAPER_DNN_ENTRY(name)           \
  Entry entry(#name, Entry::kOrdinary); \
  if (entry.refused()) return refusal(entry);

Status create(Handle* handle) {
  TAPER_DNN_ENTRY(cudnnCreate)
  *handle = new Context{host_thread().device, nullptr};
  return Status::kSuccess;
}
Status set_stream(Handle handle, cudaStream_t stream) {
  TAPER_DNN_ENTRY(cudnnSetStream)
  if (stream && !find_stream(stream)) return Status::kBadParam;
  handle->stream = stream;
  return Status::kSuccess;
}

template <class T>
Status create_shape(T** shape) {
  *shape = new T;
  return Status::kSuccess;
}
template <class T>
Status destroy_shape(T* shape) {
  delete shape;
  return Status::kSuccess;
}

Status set_tensor(Tensor to, Format, DataType type, int n, int c, int h, int w) {
  if (std::min({n, c, h, w}) <= 0) return Status::kBadParam;
  *to = {type, n, c, h, w};
  return Status::kSuccess;
}
Status set_filter(Filter to, DataType type, Format, int k, int c, int h, int w) {
  if (std::min({k, c, h, w}) <= 0) return Status::kBadParam;
  *to = {type, k, c, h, w};
  return Status::kSuccess;
}
Status set_convolution(Convolution to, int pad_h, int pad_w, int stride_h, int stride_w,
                       int dilation_h, int dilation_w, Mode, DataType compute) {
  if (std::min(pad_h, pad_w) < 0 || std::min({stride_h, stride_w, dilation_h, dilation_w}) <= 0) {
    return Status::kBadParam;
  }
  *to = {pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w, 1, compute, Math::kDefault};
  return Status::kSuccess;
}
Status set_groups(Convolution to, int groups) {
  if (groups <= 0) return Status::kBadParam;
  to->groups = groups;
  return Status::kSuccess;
}
Status set_math(Convolution to, kernels::cuda::dnn::Math math) {
  to->math = math;
  return Status::kSuccess;
}

/// The whole of a convolution; its parts have to fit each other.
struct Problem {
  TensorShape x, y;
  FilterShape w;
  ConvolutionShape conv;

  bool fits() const {
    const auto out = [](int in, int pad, int kernel, int dilation, int stride) {
      return (in + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    };
    const bool half = x.type == DataType::kHalf || x.type == DataType::kBFloat16;
    return x.type == y.type && x.type == w.type &&
           conv.compute == (half ? DataType::kFloat : x.type) && x.n == y.n &&
           x.c == w.c * conv.groups && y.c == w.k && w.k % conv.groups == 0 &&
           y.h == out(x.h, conv.pad_h, w.h, conv.dilation_h, conv.stride_h) &&
           y.w == out(x.w, conv.pad_w, w.w, conv.dilation_w, conv.stride_w);
  }
  int64_t x_size() const { return int64_t{x.n} * x.c * x.h * x.w; }
  int64_t y_size() const { return int64_t{y.n} * y.c * y.h * y.w; }
  int64_t w_size() const { return int64_t{w.k} * w.c * w.h * w.w; }

  /// visit(x index, w index, y index, count) for runs of products along a row: x in steps of the
  /// stride, y next to each other, one weight.
  template <class Visit>
  void for_runs(const Visit& visit) const {
    const int per_group = w.k / conv.groups;
    for (int n = 0; n < y.n; ++n) {
      for (int k = 0; k < w.k; ++k) {
        for (int c = 0; c < w.c; ++c) {
          const int64_t plane = int64_t{n} * x.c + k / per_group * w.c + c;
          for (int r = 0; r < w.h; ++r) {
            for (int s = 0; s < w.w; ++s) {
              const int64_t weight = ((int64_t{k} * w.c + c) * w.h + r) * w.w + s;
              const int shift = s * conv.dilation_w - conv.pad_w;
              const int lo = shift >= 0 ? 0 : (-shift + conv.stride_w - 1) / conv.stride_w;
              const int hi =
                  x.w - shift <= 0 ? 0 : std::min(y.w, (x.w - shift - 1) / conv.stride_w + 1);
              if (lo >= hi) continue;
              for (int p = 0; p < y.h; ++p) {
                const int row = p * conv.stride_h - conv.pad_h + r * conv.dilation_h;
                if (row < 0 || row >= x.h) continue;
                visit((plane * x.h + row) * x.w + shift + int64_t{lo} * conv.stride_w, weight,
                      ((int64_t{n} * y.c + k) * y.h + p) * y.w + lo, hi - lo);
              }
            }
          }
        }
      }
    }
  }
};

/// Emulated algorithms ask for some workspace, so that it is seen to be given.
constexpr size_t kWorkspace = 4096;

Status propose(const Problem& problem, int requested, int* returned, Choice* choices) {
  if (!problem.fits() || requested < 1) return Status::kBadParam;
  *returned = std::min(requested, 2);
  // The first is not to be taken by who wants the same result every time.
  choices[0] = {0, Status::kSuccess, 0.5f, 0, Determinism::kNo, problem.conv.math, {}};
  if (*returned > 1) {
    choices[1] = {1, Status::kSuccess, 1.0f, kWorkspace, Determinism::kYes, problem.conv.math, {}};
  }
  return Status::kSuccess;
}
Status propose_forward(Handle, Tensor x, Filter w, Convolution conv, Tensor y, int requested,
                       int* returned, Choice* choices) {
  TAPER_DNN_ENTRY(cudnnGetConvolutionForwardAlgorithm_v7)
  return propose({*x, *y, *w, *conv}, requested, returned, choices);
}
Status propose_data(Handle, Filter w, Tensor y, Convolution conv, Tensor x, int requested,
                    int* returned, Choice* choices) {
  TAPER_DNN_ENTRY(cudnnGetConvolutionBackwardDataAlgorithm_v7)
  return propose({*x, *y, *w, *conv}, requested, returned, choices);
}
Status propose_filter(Handle, Tensor x, Tensor y, Convolution conv, Filter w, int requested,
                      int* returned, Choice* choices) {
  TAPER_DNN_ENTRY(cudnnGetConvolutionBackwardFilterAlgorithm_v7)
  return propose({*x, *y, *w, *conv}, requested, returned, choices);
}

cudaDataType memory_type(DataType type) {
  switch (type) {
    case DataType::kDouble:
      return CUDA_R_64F;
    case DataType::kHalf:
      return CUDA_R_16F;
    case DataType::kBFloat16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

template <class T>
auto widened(const void* from, int64_t count) {
  std::vector<decltype(widen(T()))> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = widen(static_cast<const T*>(from)[i]);
  return values;
}

/// to = alpha * result + beta * to, where compute(T(), result) adds up the result.
template <class Compute>
Status run(Handle handle, const char* call, const Problem& problem, const void* alpha,
           const void* beta, int64_t size, const void* from, const void* from_too,
           const void* workspace, size_t bytes, int algorithm, void* to, const Compute& compute) {
  if (!problem.fits() || algorithm < 0 || algorithm > 1) return Status::kBadParam;
  for (const void* const p : {from, from_too, static_cast<const void*>(to)}) {
    if (machine().device_of(p) != handle->device) return Status::kBadParam;
  }
  if (algorithm == 1 && (bytes < kWorkspace || machine().device_of(workspace) != handle->device)) {
    return Status::kBadParam;
  }
  const bool wide = problem.x.type == DataType::kDouble;
  const auto number = [&](const void* p) {
    return wide ? *static_cast<const double*>(p) : double{*static_cast<const float*>(p)};
  };
  const double a = number(alpha), b = number(beta);
  if (problem.x.type == DataType::kFloat &&
      problem.conv.math == kernels::cuda::dnn::Math::kDefault) {
    ++machine().calls["tf32"];
  }
  const cudaError_t error = enqueue(handle->stream, call, [=] {
    with_type(memory_type(problem.x.type), [&](auto type) {
      using T = decltype(type);
      using C = decltype(widen(T()));
      std::vector<C> sums(static_cast<size_t>(size));
      compute(type, widened<T>, sums);
      for (size_t i = 0; i < sums.size(); ++i) {
        T& at = static_cast<T*>(to)[i];
        const C sum = static_cast<C>(a) * sums[i];
        narrow(b == 0 ? sum : sum + static_cast<C>(b) * widen(at), at);
      }
    });
    return std::string();
  });
  return error == cudaSuccess ? Status::kSuccess : Status::kFailed;
}

Status forward(Handle handle, const void* alpha, Tensor x_shape, const void* x, Filter w_shape,
               const void* w, Convolution conv, int algorithm, void* workspace, size_t bytes,
               const void* beta, Tensor y_shape, void* y) {
  TAPER_DNN_ENTRY(cudnnConvolutionForward)
  const Problem p{*x_shape, *y_shape, *w_shape, *conv};
  return run(handle, "cudnnConvolutionForward", p, alpha, beta, p.y_size(), x, w, workspace, bytes,
             algorithm, y, [=](auto, auto read, auto& sums) {
               const auto xs = read(x, p.x_size()), ws = read(w, p.w_size());
               p.for_runs([&](int64_t i, int64_t j, int64_t o, int count) {
                 const auto weight = ws[static_cast<size_t>(j)];
                 for (int q = 0; q < count; ++q) {
                   sums[static_cast<size_t>(o + q)] +=
                       weight * xs[static_cast<size_t>(i + int64_t{q} * p.conv.stride_w)];
                 }
               });
             });
}

Status backward_data(Handle handle, const void* alpha, Filter w_shape, const void* w,
                     Tensor y_shape, const void* y, Convolution conv, int algorithm,
                     void* workspace, size_t bytes, const void* beta, Tensor x_shape, void* x) {
  TAPER_DNN_ENTRY(cudnnConvolutionBackwardData)
  const Problem p{*x_shape, *y_shape, *w_shape, *conv};
  return run(handle, "cudnnConvolutionBackwardData", p, alpha, beta, p.x_size(), y, w, workspace,
             bytes, algorithm, x, [=](auto, auto read, auto& sums) {
               const auto ys = read(y, p.y_size()), ws = read(w, p.w_size());
               p.for_runs([&](int64_t i, int64_t j, int64_t o, int count) {
                 const auto weight = ws[static_cast<size_t>(j)];
                 for (int q = 0; q < count; ++q) {
                   sums[static_cast<size_t>(i + int64_t{q} * p.conv.stride_w)] +=
                       weight * ys[static_cast<size_t>(o + q)];
                 }
               });
             });
}

Status backward_filter(Handle handle, const void* alpha, Tensor x_shape, const void* x,
                       Tensor y_shape, const void* y, Convolution conv, int algorithm,
                       void* workspace, size_t bytes, const void* beta, Filter w_shape, void* w) {
  TAPER_DNN_ENTRY(cudnnConvolutionBackwardFilter)
  const Problem p{*x_shape, *y_shape, *w_shape, *conv};
  return run(handle, "cudnnConvolutionBackwardFilter", p, alpha, beta, p.w_size(), x, y, workspace,
             bytes, algorithm, w, [=](auto, auto read, auto& sums) {
               const auto xs = read(x, p.x_size()), ys = read(y, p.y_size());
               p.for_runs([&](int64_t i, int64_t j, int64_t o, int count) {
                 auto& sum = sums[static_cast<size_t>(j)];
                 for (int q = 0; q < count; ++q) {
                   sum += xs[static_cast<size_t>(i + int64_t{q} * p.conv.stride_w)] *
                          ys[static_cast<size_t>(o + q)];
                 }
               });
             });
}

const char* name_of(Status status) {
  switch (status) {
    case Status::kSuccess:
      return "CUDNN_STATUS_SUCCESS";
    case Status::kNotInitialized:
      return "CUDNN_STATUS_NOT_INITIALIZED";
    case Status::kBadParam:
      return "CUDNN_STATUS_BAD_PARAM";
    case Status::kNotSupported:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case Status::kInternal:
      return "CUDNN_STATUS_INTERNAL_ERROR";
    case Status::kHostAllocFailed:
      return "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED";
    case Status::kDeviceAllocFailed:
      return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
    case Status::kFailed:
      return "CUDNN_STATUS_EXECUTION_FAILED";
  }
  return "CUDNN_UNKNOWN_STATUS";
}

}  // namespace

Calls dnn_calls() {
  return {.cudnnCreate = create,
          .cudnnSetStream = set_stream,
          .cudnnCreateTensorDescriptor = create_shape<TensorShape>,
          .cudnnDestroyTensorDescriptor = destroy_shape<TensorShape>,
          .cudnnSetTensor4dDescriptor = set_tensor,
          .cudnnCreateFilterDescriptor = create_shape<FilterShape>,
          .cudnnDestroyFilterDescriptor = destroy_shape<FilterShape>,
          .cudnnSetFilter4dDescriptor = set_filter,
          .cudnnCreateConvolutionDescriptor = create_shape<ConvolutionShape>,
          .cudnnDestroyConvolutionDescriptor = destroy_shape<ConvolutionShape>,
          .cudnnSetConvolution2dDescriptor = set_convolution,
          .cudnnSetConvolutionGroupCount = set_groups,
          .cudnnSetConvolutionMathType = set_math,
          .cudnnGetConvolutionForwardAlgorithm_v7 = propose_forward,
          .cudnnGetConvolutionBackwardDataAlgorithm_v7 = propose_data,
          .cudnnGetConvolutionBackwardFilterAlgorithm_v7 = propose_filter,
          .cudnnConvolutionForward = forward,
          .cudnnConvolutionBackwardData = backward_data,
          .cudnnConvolutionBackwardFilter = backward_filter,
          .cudnnGetVersion = [] { return size_t{91900}; },
          .cudnnGetErrorString = name_of};
}

}  // namespace taper::emulator
