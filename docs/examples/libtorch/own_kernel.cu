// An activation of the program's own on CUDA, in LibTorch's own spelling: two kernels that read and
// write tensors, and a Function that gives them a place in autograd. Prints how far they are from
// the same formula in tensor ops, which is also what runs on the CPU.
//
//     own_kernel [--device cpu|cuda|cuda:N]
//
// Compile it with nvcc; docs/examples/CMakeLists.txt shows the command.

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>

// swish(x) = x * sigmoid(x), row by row: y[i][j] from x[i][j].

template <class T>
using Matrix = torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits>;

template <class T>
__global__ void swish_kernel(Matrix<const T> x, Matrix<T> y) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= x.size(1)) return;
  const T value = x[row][column];
  y[row][column] = value / (T(1) + exp(-value));
}

template <class T>
__global__ void swish_backward_kernel(Matrix<const T> grad, Matrix<const T> x, Matrix<T> out) {
  const int row = blockIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= x.size(1)) return;
  const T sigmoid = T(1) / (T(1) + exp(-x[row][column]));
  out[row][column] = grad[row][column] * sigmoid * (T(1) + x[row][column] * (T(1) - sigmoid));
}

struct Swish : torch::autograd::Function<Swish> {
  static constexpr int kThreads = 128;

  // Blocks along a row; the rows.
  static dim3 grid(const torch::Tensor& x) {
    TORCH_CHECK(x.dim() == 2 && x.size(0) <= 65535, "swish: expected up to 65535 rows, got ",
                x.sizes());
    return dim3((x.size(1) + kThreads - 1) / kThreads, x.size(0));
  }

  static torch::Tensor forward(torch::autograd::AutogradContext* context, torch::Tensor x) {
    context->save_for_backward({x});
    if (!x.is_cuda()) return x * torch::sigmoid(x);
    const at::cuda::OptionalCUDAGuard guard(at::device_of(x));
    torch::Tensor y = torch::empty_like(x);
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "swish", [&] {
      swish_kernel<scalar_t><<<grid(x), kThreads, 0, stream>>>(
          x.packed_accessor32<const scalar_t, 2, torch::RestrictPtrTraits>(),
          y.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
  }

  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               torch::autograd::tensor_list grads) {
    const torch::Tensor x = context->get_saved_variables()[0];
    const torch::Tensor grad = grads[0];
    if (!x.is_cuda()) {
      const torch::Tensor sigmoid = torch::sigmoid(x);
      return {grad * sigmoid * (1 + x * (1 - sigmoid))};
    }
    const at::cuda::OptionalCUDAGuard guard(at::device_of(x));
    torch::Tensor out = torch::empty_like(x);
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "swish_backward", [&] {
      swish_backward_kernel<scalar_t><<<grid(x), kThreads, 0, stream>>>(
          grad.packed_accessor32<const scalar_t, 2, torch::RestrictPtrTraits>(),
          x.packed_accessor32<const scalar_t, 2, torch::RestrictPtrTraits>(),
          out.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
    });
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return {out};
  }
};

int main(int argc, char** argv) try {
  torch::Device device(torch::cuda::is_available() ? "cuda" : "cpu");
  if (argc == 3 && std::strcmp(argv[1], "--device") == 0) {
    device = torch::Device(argv[2]);
  } else {
    TORCH_CHECK(argc == 1, "usage: own_kernel [--device cpu|cuda|cuda:N]");
  }
  torch::manual_seed(1);
  for (const torch::ScalarType dtype : {torch::kFloat, torch::kDouble}) {
    // Not contiguous: the kernels read it by its strides.
    const auto values = torch::randn({300, 70}, dtype).to(device).t();
    const auto x = values.detach().requires_grad_();
    const auto y = Swish::apply(x);
    y.square().sum().backward();

    const auto wanted_x = values.detach().requires_grad_();
    const auto wanted_y = wanted_x * torch::sigmoid(wanted_x);
    wanted_y.square().sum().backward();

    const double apart = (y - wanted_y).abs().max().item<double>();
    const double grads_apart = (x.grad() - wanted_x.grad()).abs().max().item<double>();
    std::printf("%s on %s: apart by %.1e, gradients by %.1e\n", torch::toString(dtype),
                device.str().c_str(), apart, grads_apart);
    const double allowed = dtype == torch::kFloat ? 1e-5 : 1e-13;
    TORCH_CHECK(apart <= allowed && grads_apart <= allowed, "own_kernel: more than ", allowed,
                " apart");
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
