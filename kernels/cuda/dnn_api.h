#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

// What Taper calls of cuDNN 9 (its legacy interface, convolutions alone), declared here because the
// library is opened, not linked. tests/cuda/dnn.cpp compares this page with NVIDIA's headers.

namespace taper::kernels::cuda::dnn {

using Handle = struct Context*;
using Tensor = struct TensorShape*;
using Filter = struct FilterShape*;
using Convolution = struct ConvolutionShape*;

enum class Status : int {
  kSuccess = 0,
  kNotInitialized = 1001,
  kBadParam = 2000,
  kNotSupported = 3000,
  kInternal = 4000,
  kHostAllocFailed = 4003,
  kDeviceAllocFailed = 4004,
  kFailed = 5000
};
enum class DataType : int { kFloat = 0, kDouble = 1, kHalf = 2, kBFloat16 = 9 };
enum class Format : int { kNchw = 0 };
enum class Mode : int { kCrossCorrelation = 1 };
enum class Math : int { kDefault = 0, kTensorOp = 1, kFma = 3 };
enum class Determinism : int { kNo = 0, kYes = 1 };

/// An algorithm that might do, with what cuDNN expects of it. One struct for the three passes,
/// whose enumerations of algorithms are different but all ints.
struct Choice {
  int algorithm;
  Status status;
  float time;
  size_t memory;  ///< bytes of workspace
  Determinism determinism;
  Math math;
  int reserved[3];
};

/// The functions by their names in the library.
#define TAPER_DNN_CALLS(_)                                                                        \
  _(cudnnCreate, (Handle*))                                                                       \
  _(cudnnSetStream, (Handle, cudaStream_t))                                                       \
  _(cudnnCreateTensorDescriptor, (Tensor*))                                                       \
  _(cudnnDestroyTensorDescriptor, (Tensor))                                                       \
  _(cudnnSetTensor4dDescriptor, (Tensor, Format, DataType, int n, int c, int h, int w))           \
  _(cudnnCreateFilterDescriptor, (Filter*))                                                       \
  _(cudnnDestroyFilterDescriptor, (Filter))                                                       \
  _(cudnnSetFilter4dDescriptor, (Filter, DataType, Format, int k, int c, int h, int w))           \
  _(cudnnCreateConvolutionDescriptor, (Convolution*))                                             \
  _(cudnnDestroyConvolutionDescriptor, (Convolution))                                             \
  _(cudnnSetConvolution2dDescriptor,                                                              \
    (Convolution, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,               \
     int dilation_w, Mode, DataType compute))                                                     \
  _(cudnnSetConvolutionGroupCount, (Convolution, int groups))                                     \
  _(cudnnSetConvolutionMathType, (Convolution, Math))                                             \
  _(cudnnGetConvolutionForwardAlgorithm_v7,                                                       \
    (Handle, Tensor x, Filter w, Convolution, Tensor y, int requested, int* returned, Choice*))   \
  _(cudnnGetConvolutionBackwardDataAlgorithm_v7,                                                  \
    (Handle, Filter w, Tensor dy, Convolution, Tensor dx, int requested, int* returned, Choice*)) \
  _(cudnnGetConvolutionBackwardFilterAlgorithm_v7,                                                \
    (Handle, Tensor x, Tensor dy, Convolution, Filter dw, int requested, int* returned, Choice*)) \
  _(cudnnConvolutionForward,                                                                      \
    (Handle, const void* alpha, Tensor, const void* x, Filter, const void* w, Convolution,        \
     int algorithm, void* workspace, size_t bytes, const void* beta, Tensor, void* y))            \
  _(cudnnConvolutionBackwardData,                                                                 \
    (Handle, const void* alpha, Filter, const void* w, Tensor, const void* dy, Convolution,       \
     int algorithm, void* workspace, size_t bytes, const void* beta, Tensor, void* dx))           \
  _(cudnnConvolutionBackwardFilter,                                                               \
    (Handle, const void* alpha, Tensor, const void* x, Tensor, const void* dy, Convolution,       \
     int algorithm, void* workspace, size_t bytes, const void* beta, Filter, void* dw))

struct Calls {
#define TAPER_DNN_MEMBER(name, arguments) Status(*name) arguments;
  TAPER_DNN_CALLS(TAPER_DNN_MEMBER)
#undef TAPER_DNN_MEMBER
  size_t (*cudnnGetVersion)();
  const char* (*cudnnGetErrorString)(Status);
};

}  // namespace taper::kernels::cuda::dnn
