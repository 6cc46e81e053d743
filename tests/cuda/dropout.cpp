#include <limits>

#include "taper/kernels/functors/philox.h"
#include "values.h"

using namespace cuda_tests;

namespace {

constexpr CudaRngState kState{99, 16};
/// Threads of PyTorch's grid for so many elements, on the card of the tests.
int64_t threads_for(int64_t count) {
  static const int64_t most = [] {
    DeviceProperties device;
    require_ok(cuda_runtime().properties(0, &device));
    return int64_t{device.multi_processor_count} * (device.max_threads_per_multi_processor / 256);
  }();
  return std::min(most, (count + 255) / 256) * 256;
}

/// Whether PyTorch keeps element i, `pack` elements being one step of a thread (1: single ones).
bool kept(int64_t i, int64_t count, int pack, double keep) {
  const int64_t threads = threads_for(count);
  int64_t thread, call;
  int place;
  if (pack == 1) {
    thread = i % threads;
    call = i / threads / 4;
    place = static_cast<int>(i / threads % 4);
  } else {
    const int64_t step = i / pack / threads, calls = (pack + 3) / 4;
    thread = i / pack % threads;
    call = step * calls + i % pack / 4;
    place = static_cast<int>(i % pack % 4);
  }
  const float x = functors::uniform_of_word(
      functors::philox(kState.seed, kState.offset / 4 + static_cast<uint64_t>(call),
                       static_cast<uint64_t>(thread))
          .word[place]);
  return static_cast<double>(x) < keep;
}

template <class T>
void check(int64_t count, int64_t in_shift, int64_t out_shift, int pack) {
  INFO(count << " elements, shifts " << in_shift << " and " << out_shift);
  using C = StatisticsOf<T>;
  constexpr double kP = 0.3;
  const C keep = static_cast<C>(1 - kP), scale = static_cast<C>(1 / static_cast<double>(keep));
  Twin<T> in(numbers<T>(count + in_shift, 61)), out(static_cast<size_t>(count + out_shift));
  Twin<T> grad(numbers<T>(count + out_shift, 62)), grad_in(out.size());
  Twin<uint8_t> mask(out.size());
  CudaRngState state = kState;
  require_ok(cuda_table().dropout_forward(out.device() + out_shift, mask.device() + out_shift,
                                          in.device() + in_shift, dtype_of<T>, count, kP, &state,
                                          cuda_stream()));
  require_ok(cuda_table().dropout_backward(grad_in.device() + out_shift, grad.device() + out_shift,
                                           mask.device() + out_shift, dtype_of<T>, count, kP,
                                           cuda_stream()));
  const int64_t threads = threads_for(count);
  CHECK(state.offset ==
        kState.offset + static_cast<uint64_t>(((count - 1) / (threads * 4) + 1) * 4));
  const auto values = out.download(), gradients = grad_in.download();
  const auto bytes = mask.download();
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i + out_shift);
    const bool expected = kept(i, count, pack, static_cast<double>(keep));
    const auto times = [&](T x) {
      return static_cast<double>(static_cast<T>(static_cast<C>(x) * (expected ? scale : C(0))));
    };
    if (bytes[at] == expected &&
        std::abs(static_cast<double>(values[at]) - times(in.host()[i + in_shift])) <= 1e-6 &&
        std::abs(static_cast<double>(gradients[at]) - times(grad.host()[at])) <= 1e-6) {
      continue;
    }
    INFO("element " << i << ": mask " << int{bytes[at]} << ", expected " << expected << ", value "
                    << static_cast<double>(values[at]) << ", gradient "
                    << static_cast<double>(gradients[at]));
    FAIL("not PyTorch's dropout");
  }
}

}  // namespace

TEMPLATE_TEST_CASE("dropout on CUDA keeps what PyTorch keeps", "", TAPER_FLOATING_TYPES) {
  constexpr int kPack = 16 / static_cast<int>(sizeof(TestType));
  for (const int64_t count : {kPack, 1024, 8192 * kPack, 8192 * kPack + kPack, 80000}) {
    check<TestType>(count, 0, 0, kPack);
  }
  for (const int64_t count : {1, 777, 40001}) check<TestType>(count, 0, 0, 1);
  check<TestType>(40002, 0, 0, 2);
  check<TestType>(1024, 1, 0, 1);      // the input begins amid a pack
  check<TestType>(1024, 0, 1, kPack);  // what is written does
  check<TestType>(1024, kPack / 2, 0, kPack / 2);
}

TEST_CASE("dropout of everything gives zeros, and draws nothing") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Twin<float> in(std::vector<float>{1, kInf, -kInf, 2}), out(4), grad_in(4);
  Twin<uint8_t> mask(4, uint8_t{7});
  CudaRngState state = kState;
  require_ok(cuda_table().dropout_forward(out.device(), mask.device(), in.device(), kFloat, 4, 1,
                                          &state, cuda_stream()));
  require_ok(cuda_table().dropout_backward(grad_in.device(), in.device(), mask.device(), kFloat, 4,
                                           1, cuda_stream()));
  CHECK(out.download() == std::vector<float>(4, 0.f));
  CHECK(grad_in.download() == std::vector<float>(4, 0.f));
  CHECK(mask.download() == std::vector<uint8_t>(4, 0));
  CHECK(state.offset == kState.offset);
}

TEST_CASE("dropout of nothing keeps everything") {
  Twin<float> in(numbers<float>(5000, 63)), out(5000);
  Twin<uint8_t> mask(5000);
  CudaRngState state = kState;
  require_ok(cuda_table().dropout_forward(out.device(), mask.device(), in.device(), kFloat, 5000, 0,
                                          &state, cuda_stream()));
  CHECK(out.download() == std::vector<float>(in.host(), in.host() + 5000));
}
