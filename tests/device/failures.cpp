#include <cstdio>

#include "emulator.h"
#include "network.h"
#include "support/process.h"

// Calls of the runtime, of cuBLAS and of cuDNN that fail: the exception names the call, nothing is
// lost, and the program goes on.

using namespace device_tests;

namespace {

/// Streams and events that exist: as many lines of the emulator's list.
int64_t handles() {
  const std::string all = the_emulator().live_objects();
  int64_t count = 0;
  for (const char* const kind : {"a stream made", "an event made"}) {
    for (size_t at = 0; (at = all.find(kind, at)) != std::string::npos; ++at) ++count;
  }
  return count;
}

/// A training step from nothing: network, optimizer, data from pinned and from ordinary memory, and
/// at the end a value that is read.
void train_from_nothing() {
  cuda::empty_cache();
  Training training;
  const Tensor images = ones({2, 1, 8, 8}).pin_memory();
  const Tensor loss = training.step(images.to(Device(kCUDA), true), zeros({2}, kLong).to(kCUDA));
  TAPER_CHECK(loss.item<float>() > 0, "a loss of 0");
}

/// Work on a second stream, with an event between the two, and memory that both use.
void use_two_streams() {
  const cuda::Stream side;
  const Tensor x = ones({10}, on_cuda());
  Tensor y;
  side.wait_stream(cuda::current_stream());
  {
    const cuda::StreamGuard guard(side);
    y = x * 2;
    x.record_stream(side);
  }
  cuda::current_stream().wait_stream(side);
  TAPER_CHECK(y.sum().item<float>() == 20, "a wrong sum");
}

/// What an exception says of a call.
std::string name_of(const std::string& call) {
  return call == "cudaLaunchKernel" ? "launch of " : call;
}

/// Lets the first, the second, ... call of `call` in `run` fail, until there is none left to fail.
/// Returns how many there were. `may_pass`: some of them are made up for.
int fail_each(const char* call, const std::function<void()>& run, bool may_pass = false) {
  run();
  const int64_t memory = cuda::memory_allocated(), handles_before = handles();
  for (int n = 1;; ++n) {
    INFO("call " << n << " of " << call);
    const bool is_runtime = std::string(call).rfind("cuda", 0) == 0;
    the_emulator().inject(call, n, is_runtime ? cudaErrorUnknown : 0);
    std::string message;
    const int64_t made = count_calls(call, [&] { message = error_of(run); });
    the_emulator().clear_failures();
    CHECK(cuda::memory_allocated() == memory);
    if (made < n) {
      CHECK(message == "");
      return n - 1;
    }
    if (!may_pass || !message.empty()) contains(message, name_of(call));
    REQUIRE(n < 2000);
    run();
    CHECK(cuda::memory_allocated() == memory);
    CHECK(handles() <= handles_before + 2);  // events that are kept for the next time
  }
}

}  // namespace

TEST_CASE("whichever call of a training step fails, it is named, and the next step works") {
  manual_seed(1);
  struct Call {
    const char* name;
    int at_least;
  };
  for (const Call& call : std::vector<Call>{{"cudaMalloc", 1},
                                            {"cudaHostAlloc", 1},
                                            {"cudaMemcpyAsync", 5},
                                            {"cudaMemsetAsync", 0},
                                            {"cudaLaunchKernel", 20},
                                            {"cudaStreamSynchronize", 1},
                                            {"cublasSetStream", 2},
                                            {"cublasSetWorkspace", 2},
                                            {"cublasGemmStridedBatchedEx", 2},
                                            {"cublasLtMatmul", 2},
                                            {"cudnnSetStream", 2},
                                            {"cudnnConvolutionForward", 1},
                                            {"cudnnConvolutionBackwardFilter", 1}}) {
    INFO(call.name);
    CHECK(fail_each(call.name, train_from_nothing) >= call.at_least);
  }
}

TEST_CASE("whichever call of work on two streams fails, it is named, and the next try works") {
  for (int i = 0; i < 32; ++i) cuda::Stream();  // as many are kept
  CHECK(fail_each("cudaEventCreateWithFlags", use_two_streams) >= 1);
  CHECK(fail_each("cudaStreamWaitEvent", use_two_streams) >= 2);
  CHECK(fail_each("cudaLaunchKernel", use_two_streams) >= 3);
  // Memory that cannot be marked as in use is waited for.
  CHECK(fail_each("cudaEventRecord", use_two_streams, /*may_pass=*/true) >= 3);
}

TEST_CASE("memory that cannot be had at once is asked for again, the cache freed") {
  train_from_nothing();
  cuda::empty_cache();
  const int64_t retries = cuda::memory_stats().at("num_alloc_retries");
  the_emulator().inject("cudaMalloc", 1, cudaErrorMemoryAllocation);
  train_from_nothing();
  CHECK(cuda::memory_stats().at("num_alloc_retries") == retries + 1);
}

TEST_CASE("too large a batch is an error with the numbers, and a smaller one fits") {
  manual_seed(1);
  Training training;
  const auto step = [&](int64_t batch) {
    return training.step(ones({batch, 1, 8, 8}, on_cuda()), zeros({batch}, on_cuda(kLong)))
        .item<float>();
  };
  step(2);
  const int64_t before = cuda::memory_allocated(), ooms = cuda::memory_stats().at("num_ooms");
  cuda::set_per_process_memory_fraction(0.01);  // of 4 GiB
  std::string message;
  try {
    step(1 << 14);
  } catch (const OutOfMemoryError& error) {
    message = error.what();
  }
  contains(message, "CUDA out of memory. Tried to allocate ");
  contains(message, "GPU 0 has a total capacity of 4.00 GiB");
  contains(message, " is free");
  contains(message, " is allocated");
  contains(message, "reserved");
  CHECK(cuda::memory_stats().at("num_ooms") == ooms + 1);
  training.optimizer->zero_grad();
  CHECK(cuda::memory_allocated() <= before);
  CHECK(step(4) > 0);
  cuda::set_per_process_memory_fraction(1);
}

TEST_CASE("the first call of its kind fails", "[.first]") {
  const char* const call = std::getenv("TAPER_TEST_CALL");
  REQUIRE(call != nullptr);
  const bool memory = std::string(call) == "cudaMalloc";
  contains(error_of(train_from_nothing), memory ? "CUDA out of memory. Tried to allocate" : call);
  train_from_nothing();
  CHECK(cuda::memory_allocated() == 0);
}

TEST_CASE("what fails while a device is first used works at the second try") {
  for (const std::string call :
       {"cudaStreamCreateWithFlags", "cudaHostAlloc", "cudaMalloc", "cudaMemcpyAsync",
        "cudaStreamSynchronize", "cudaGetDeviceProperties", "cublasCreate", "cudnnCreate",
        "cublasLtCreate", "cublasLtMatmulDescCreate", "cublasLtMatmulAlgoGetHeuristic",
        "cudnnGetConvolutionForwardAlgorithm_v7",
        "cudnnGetConvolutionBackwardFilterAlgorithm_v7"}) {
    INFO(call);
    const support::Outcome outcome = support::run_test(
        "the first call of its kind fails",
        "TAPER_CUDA=emulated TAPER_EMULATOR=leaks=on,fail=" + call + ":1 TAPER_TEST_CALL=" + call);
    INFO(outcome.output);
    CHECK(outcome.status == 0);
    CHECK(outcome.output.find("not freed at exit") == std::string::npos);
  }
}

TEST_CASE("a library makes its handle on a full card", "[.full]") {
  const char* const times = std::getenv("TAPER_TEST_CALL");
  REQUIRE(times != nullptr);
  if (std::string(times) == "twice") {
    CHECK_THROWS_AS(train_from_nothing(), OutOfMemoryError);
  }
  train_from_nothing();
  CHECK(cuda::memory_allocated() == 0);
}

TEST_CASE("what a library's handle does not get on a full card it gets from the cache") {
  struct Case {
    const char *call, *no_memory;
  };
  for (const Case& item :
       {Case{"cublasCreate_v2", "3"}, Case{"cublasLtCreate", "3"}, Case{"cudnnCreate", "4004"}}) {
    for (const bool twice : {false, true}) {
      INFO(item.call << (twice ? " twice" : " once"));
      const auto failure = [&](const char* nth) {
        return std::string("fail=") + item.call + ":" + nth + ":" + item.no_memory;
      };
      const support::Outcome outcome = support::run_test(
          "a library makes its handle on a full card",
          "TAPER_CUDA=emulated TAPER_EMULATOR=" + failure("1") +
              (twice ? "," + failure("2") + " TAPER_TEST_CALL=twice" : " TAPER_TEST_CALL=once"));
      INFO(outcome.output);
      CHECK(outcome.status == 0);
    }
  }
}

TEST_CASE("a device is lost in the middle", "[.lost]") {
  std::string message;
  {
    std::unique_ptr<Training> training;
    message = error_of([&] {
      training = std::make_unique<Training>();
      const Tensor images = ones({2, 1, 8, 8}).pin_memory();
      for (int i = 0; i < 1000; ++i) {
        training->step(images.to(Device(kCUDA), true), zeros({2}, kLong).to(kCUDA)).item<float>();
      }
    });
    std::printf("%s\n", message.c_str());
    contains(message, "cudaErrorDevicesUnavailable");
    contains(message, "The device cannot be used any more.");
    for (int i = 0; i < 3; ++i) {  // and it stays so
      contains(error_of([] { ones({3}, on_cuda()).add(1); }), "cudaErrorDevicesUnavailable");
      contains(error_of([] { cuda::synchronize(); }), "cudaErrorDevicesUnavailable");
    }
  }
  CHECK(cuda::memory_allocated() == 0);
  CHECK(ones({3}).sum().item<float>() == 3);  // what does not need the device works
}

TEST_CASE("a lost device is an exception at every call, and the program ends as it should") {
  for (const int when : {1, 10, 100, 333}) {
    for (const char* const streams : {"eager", "deferred"}) {
      const support::Outcome outcome = support::run_test(
          "a device is lost in the middle",
          "TAPER_CUDA=emulated TAPER_EMULATOR=leaks=on,fail=device:" + std::to_string(when) +
              ",streams=" + streams);
      INFO("device:" << when << ", streams=" << streams << "\n" << outcome.output);
      CHECK(outcome.status == 0);
      CHECK(outcome.output.find("not freed at exit") == std::string::npos);
      if (when >= 100) {
        contains(outcome.output, "what was launched before, the latest first:\n  ");
        CHECK(outcome.output.find("a kernel at ") == std::string::npos);  // they have names
      }
    }
  }
}
