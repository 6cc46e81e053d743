#include <dlfcn.h>

#include "machine.h"
#include "taper/build_id.h"
#include "taper/kernels/cuda/context.h"
#include "taper/kernels/cuda/runtime.h"

using namespace cuda_tests;
using taper::kernels::cuda::fault_of;
using taper::kernels::cuda::launch;
using taper::kernels::cuda::report_fault;

extern "C" const DeviceModule* taper_cuda_module(const HostServices*);

namespace {

__global__ void __launch_bounds__(32)
    check_indices(cuda::DeviceFault* fault, const char* op, int64_t value) {
  report_fault(fault, op, value + threadIdx.x, 10);
}

__global__ void __launch_bounds__(32) write_number(int* to, int number) {
  if (threadIdx.x == 0) *to = number;
}

__global__ void __launch_bounds__(32) trap() { __trap(); }

void flag(const Stream& stream, const char* op, int64_t value) {
  require_ok(launch(stream, check_indices, dim3(1), dim3(32), 0, fault_of(stream), op, value));
}

Status wait_by(int how, const Stream& stream) {
  const DeviceRuntime& rt = cuda_runtime();
  bool done = false;
  if (how == 0) return rt.stream_synchronize(stream);
  if (how == 1) return rt.device_synchronize(stream.device);
  if (how == 2) {
    const Memory memory(sizeof(int), stream);
    int number = 0;
    return rt.copy(&number, kHost, memory.get(), stream.device, sizeof number, stream, {}, true);
  }
  if (how == 3) return rt.stream_query(stream, &done);
  void* event = nullptr;
  require_ok(rt.event_create(stream.device, false, false, &event));
  require_ok(rt.event_record(event, stream));
  const Status status = how == 4 ? rt.event_synchronize(stream.device, event)
                                 : rt.event_query(stream.device, event, &done);
  require_ok(rt.event_destroy(stream.device, event));
  return status;
}

}  // namespace

TEST_CASE("cuda runtime: devices, their properties and versions") {
  const Machine machine("devices=3,memory=64M,capability=80");
  int count = 0;
  require_ok(cuda_runtime().device_count(&count));
  CHECK(count == 3);
  DeviceProperties properties{};
  require_ok(cuda_runtime().properties(2, &properties));
  CHECK(properties.name == std::string("Taper's emulator of sm_80"));
  CHECK(properties.major == 8);
  CHECK(properties.minor == 0);
  CHECK(properties.total_memory == 64 * kMiB);
  CHECK(properties.warp_size == 32);
  CHECK(properties.emulated);
  CHECK_FALSE(cuda_runtime().properties(3, &properties).ok());
  CHECK_FALSE(cuda_runtime().properties(-1, &properties).ok());
  DeviceVersions versions{};
  require_ok(cuda_runtime().versions(&versions));
  CHECK(versions.runtime == CUDART_VERSION);
  CHECK(versions.driver == CUDART_VERSION);
  int64_t free = 0, total = 0;
  require_ok(cuda_runtime().memory_info(1, &free, &total));
  CHECK(total == 64 * kMiB);
  CHECK(free == total);
  CHECK(emulator::live_objects() == "");  // questions begin no use
}

TEST_CASE("cuda runtime: where there is no device it says why") {
  const Machine machine("devices=1");
  const auto reason = [](cudaError_t error) {
    emulator::inject("cudaGetDeviceCount", 1, error);
    int count = 7;
    const Status status = cuda_runtime().device_count(&count);
    CHECK(status.code == Code::kDeviceError);
    CHECK(status.value == error);
    CHECK(count == 0);
    CHECK(cudaGetLastError() == cudaSuccess);
    return text_of(status);
  };
  contains(reason(cudaErrorNoDevice), "the driver sees no CUDA device");
  contains(reason(cudaErrorInsufficientDriver),
           "the NVIDIA driver is too old: it supports CUDA up "
           "to " +
               std::to_string(CUDART_VERSION / 1000));
  emulator::inject("cudaDriverGetVersion", 1);
  contains(reason(cudaErrorInsufficientDriver), "no NVIDIA driver was found");
  contains(reason(cudaErrorInitializationError), "CUDA could not be initialised: ");
  contains(reason(cudaErrorUnknown), "cudaErrorUnknown: unknown error");
  int count = 0;
  require_ok(cuda_runtime().device_count(&count));
  CHECK(count == 1);
}

TEST_CASE("cuda runtime: what a kernel flags is reported once, by the next call that waits") {
  const int how = GENERATE(range(0, 6));
  INFO("way of waiting: " << how);
  const Machine machine("devices=2,streams=eager");
  const Stream stream = cuda_stream(), other = cuda_stream(1);
  flag(stream, "index_select", 10);
  flag(stream, "gather", 77);  // the first writer wins
  require_ok(wait_by(how, other));
  const Status status = wait_by(how, stream);
  CHECK(status.code == Code::kIndexOutOfRange);
  CHECK(text_of(status) == "index_select");
  CHECK(status.limit == 10);
  CHECK((status.value >= 10 && status.value < 42));
  require_ok(wait_by(how, stream));
  flag(stream, "embedding", -1000);
  const Status again = wait_by(how, stream);
  CHECK(text_of(again) == "embedding");
  CHECK(again.value < 0);
  require_ok(wait_by(how, stream));
}

TEST_CASE("cuda runtime: kernels see the flag until it has been reported") {
  const Machine machine("devices=1");
  const Stream stream = cuda_stream();
  const auto state = [&] {
    // By CUDA's own call: the runtime's would report the flag and clear it.
    REQUIRE(cudaStreamSynchronize(static_cast<cudaStream_t>(stream.handle)) == cudaSuccess);
    unsigned value = 7;
    REQUIRE(cudaMemcpy(&value, &fault_of(stream)->state, sizeof value, cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    return value;
  };
  CHECK(state() == 0);
  flag(stream, "cross_entropy", 10);
  CHECK(state() == 1);
  CHECK_FALSE(cuda_runtime().stream_synchronize(stream).ok());
  CHECK(state() == 0);
}

TEST_CASE("cuda runtime: a trap is reported by the call that noticed, with the recent launches") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  Memory memory(sizeof(int), stream);
  require_ok(
      launch(stream, write_number, dim3(1), dim3(32), 0, static_cast<int*>(memory.get()), 3));
  const int line = __LINE__ + 1;
  require_ok(launch(stream, trap, dim3(1), dim3(32), 0));
  const Status status = cuda_runtime().stream_synchronize(stream);
  CHECK(status.code == Code::kDeviceError);
  const std::string text = text_of(status);
  contains(text, "cudaStreamSynchronize: cudaErrorLaunchFailure");
  const size_t last = text.find("runtime.cpp:" + std::to_string(line) + "\n", text.find("latest"));
  const size_t before = text.find("runtime.cpp:" + std::to_string(line - 2) + "\n", last);
  CHECK(last != std::string::npos);
  CHECK(before != std::string::npos);
  contains(text, "CUDA_LAUNCH_BLOCKING=1");
  // From now on everything says so.
  const Status next = launch(stream, trap, dim3(1), dim3(32), 0);
  contains(text_of(next), "launch of trap at ");
  contains(text_of(next), "cudaErrorLaunchFailure");
  memory.release();
}

// Run by a test of its own, with CUDA_LAUNCH_BLOCKING=1.
TEST_CASE("cuda runtime: when launches block, the call itself reports", "[.blocking]") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  flag(stream, "gather", 40);
  const Status found = cuda::fault_of_this_call(stream);
  CHECK(found.code == Code::kIndexOutOfRange);
  CHECK(found.what == nullptr);
  require_ok(cuda::fault_of_this_call(stream));
  require_ok(cuda_runtime().stream_synchronize(stream));
  const Status trapped = launch(stream, trap, dim3(1), dim3(32), 0);
  contains(text_of(trapped), "launch of trap at ");
  contains(text_of(trapped), "cudaErrorLaunchFailure");
}

TEST_CASE("cuda runtime: the plugin exports its module and its control, nothing else") {
  void* const library = dlopen(TAPER_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  INFO((library ? "" : dlerror()));
  REQUIRE(library != nullptr);
  CHECK(dlsym(library, "cudaMalloc") == nullptr);
  CHECK(dlsym(library, "taper_emulator_control") != nullptr);
  const auto entry = reinterpret_cast<DeviceModuleEntry>(dlsym(library, "taper_cuda_module"));
  REQUIRE(entry != nullptr);
  CHECK(entry != &taper_cuda_module);
  const DeviceModule* const module = entry(stream_for(kCPU).host);
  CHECK(module->abi == kDeviceAbi);
  CHECK(module->build_id == std::string(TAPER_BUILD_ID));
  CHECK(module->kind == std::string("emulated"));
  const DeviceRuntime& rt = module->runtime;
  Stream stream{stream_for(kCPU).host, nullptr, 0};
  require_ok(rt.default_stream(0, &stream.handle));
  void* memory = nullptr;
  require_ok(rt.allocate(&memory, sizeof(int), stream));
  int number = 42;
  require_ok(rt.copy(memory, 0, &number, kHost, sizeof number, stream, {}, false));
  number = 0;
  require_ok(rt.copy(&number, kHost, memory, 0, sizeof number, stream, {}, false));
  CHECK(number == 42);
  rt.release(memory);
  CHECK(rt.live_allocations() == 0);
}

TEST_CASE("cuda runtime: every entry of the table is filled") {
  // A table of function pointers has no holes: neither forgotten entries nor padding.
  const DeviceRuntime& rt = cuda_runtime();
  void* entries[sizeof rt / sizeof(void*)];
  std::memcpy(entries, &rt, sizeof rt);
  for (size_t i = 0; i < std::size(entries); ++i) {
    INFO("entry " << i);
    CHECK(entries[i] != nullptr);
  }
}
