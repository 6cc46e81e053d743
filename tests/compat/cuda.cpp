// LibTorch's names for devices, streams and events, where there are CUDA devices; without one, what
// they say.

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

#include <type_traits>
#include <unordered_map>
#include <unordered_set>

#include "catch.h"

using Catch::Matchers::ContainsSubstring;

TEST_CASE("LibTorch's streams and events are the runtime's own, for kernels of the program") {
  // CUDA's headers name these pointers cudaStream_t and cudaEvent_t.
  static_assert(std::is_convertible_v<at::cuda::CUDAStream, CUstream_st*>);
  static_assert(std::is_convertible_v<at::cuda::CUDAEvent, CUevent_st*>);
  if (!torch::cuda::is_available()) {
    CHECK_THROWS_WITH(at::cuda::getCurrentCUDAStream(), ContainsSubstring("cuda"));
    return;
  }
  const at::cuda::CUDAStream stream = at::cuda::getStreamFromPool();
  CHECK(stream.stream() != at::cuda::getDefaultCUDAStream().stream());
  const at::cuda::CUDAStreamGuard guard(stream);
  CUstream_st* const current = at::cuda::getCurrentCUDAStream();
  CHECK(current == stream.stream());

  at::cuda::CUDAEvent begin(0), end(0), untimed;
  CHECK_FALSE(begin.isCreated());
  CHECK(begin.event() == nullptr);
  CHECK(begin.device_index() == -1);
  begin.record();
  CHECK((begin.isCreated() && begin.device_index() == stream.device_index()));
  const auto x = torch::ones({100}, torch::kCUDA) * 2;
  end.record(stream);
  end.synchronize();
  CHECK(begin.elapsed_time(end) >= 0);
  CUevent_st* const before = end;
  end.recordOnce(stream);
  CHECK(static_cast<CUevent_st*>(end) == before);
  untimed.recordOnce(stream);
  untimed.synchronize();
  CHECK_THROWS_WITH(begin.elapsed_time(untimed), ContainsSubstring("enable_timing"));
  CHECK(x.sum().item<float>() == 200);
}

TEST_CASE("An optional guard changes the device where there is one to change to") {
  const at::cuda::OptionalCUDAGuard none, on_cpu(at::device_of(torch::ones({1})));
  const at::cuda::OptionalCUDAGuard of_undefined(at::device_of(torch::Tensor()));
  if (!torch::cuda::is_available()) return;
  const auto last = static_cast<c10::DeviceIndex>(torch::cuda::device_count() - 1);
  {
    const at::cuda::OptionalCUDAGuard guard(
        at::device_of(torch::ones({1}, torch::Device(torch::kCUDA, last))));
    CHECK(c10::cuda::current_device() == last);
  }
  CHECK(c10::cuda::current_device() == 0);
}

TEST_CASE("Guards tell what was current and what is, and can change their mind") {
  const c10::DeviceGuard on_cpu(torch::kCPU);
  CHECK((on_cpu.current_device() == torch::Device(torch::kCPU)));
  const c10::OptionalDeviceGuard of_tensor(device_of(torch::ones({1})));  // found by its argument
  CHECK((of_tensor.current_device() == torch::Device(torch::kCPU)));
  CHECK_FALSE(c10::OptionalDeviceGuard().original_device().has_value());
  CHECK_FALSE(device_of(torch::Tensor()).has_value());
  CHECK_THROWS_WITH(c10::cuda::CUDAGuard(torch::Device(torch::kCPU)), ContainsSubstring("cpu"));
  if (!torch::cuda::is_available()) return;
  const auto last = static_cast<c10::DeviceIndex>(torch::cuda::device_count() - 1);
  const torch::Device first_device(torch::kCUDA, 0), last_device(torch::kCUDA, last);
  {
    c10::cuda::CUDAGuard guard(last);
    CHECK((guard.original_device() == first_device && guard.current_device() == last_device));
    guard.set_index(0);
    CHECK((guard.current_device() == first_device && c10::cuda::current_device() == 0));
    guard.set_device(last_device);
    CHECK_THROWS(guard.set_index(100));
    CHECK((guard.current_device() == last_device && c10::cuda::current_device() == last));
  }
  CHECK(c10::cuda::current_device() == 0);
  c10::cuda::OptionalCUDAGuard maybe;
  CHECK_FALSE(maybe.current_device().has_value());
  maybe.set_index(last);
  CHECK((maybe.original_device() == first_device && maybe.current_device() == last_device));
  maybe.reset();
  CHECK(c10::cuda::current_device() == 0);
  {
    c10::DeviceGuard guard(last_device);
    CHECK((guard.original_device() == first_device && c10::cuda::current_device() == last));
    guard.set_index(0);
    CHECK((guard.current_device() == first_device && c10::cuda::current_device() == 0));
    guard.reset_device(last_device);
    CHECK((guard.current_device() == last_device && c10::cuda::current_device() == last));
  }
  const auto stream = c10::cuda::getStreamFromPool(false, last);
  const auto before = c10::cuda::getCurrentCUDAStream(last);
  const c10::cuda::CUDAStreamGuard guard(stream);
  CHECK((guard.original_stream() == before && guard.current_stream() == stream));
  CHECK((guard.original_device() == first_device && guard.current_device() == last_device));
}

TEST_CASE("Devices, streams and the device of an event are values that a program can keep") {
  std::unordered_map<torch::Device, int> per_device;
  for (const auto* name : {"cpu", "cuda", "cuda:0", "cuda:1", "cuda:0"}) ++per_device[name];
  CHECK((per_device.size() == 4 && per_device.at("cuda:0") == 2));
  CHECK_FALSE(at::cuda::CUDAEvent().device().has_value());
  if (!torch::cuda::is_available()) return;
  const auto last = static_cast<c10::DeviceIndex>(torch::cuda::device_count() - 1);
  CHECK((c10::cuda::ExchangeDevice(last) == 0 && c10::cuda::current_device() == last));
  CHECK((c10::cuda::ExchangeDevice(0) == last && c10::cuda::current_device() == 0));
  CHECK_THROWS(c10::cuda::ExchangeDevice(-1));
  CHECK_THROWS(c10::cuda::ExchangeDevice(100));
  CHECK(c10::cuda::current_device() == 0);

  std::unordered_set<at::cuda::CUDAStream> streams;
  for (c10::DeviceIndex device = 0; device <= last; ++device) {
    streams.insert(at::cuda::getDefaultCUDAStream(device));
    streams.insert(at::cuda::getDefaultCUDAStream(device));
    streams.insert(at::cuda::getStreamFromPool(false, device));
  }
  CHECK(streams.size() == 2 * static_cast<size_t>(last + 1));
  const auto there = at::cuda::getStreamFromPool(false, last);
  CHECK(streams.count(there) == 0);
  at::cuda::CUDAEvent event;
  event.record(there);
  CHECK((event.device() == torch::Device(torch::kCUDA, last)));
}

TEST_CASE("A packed accessor points to memory on the device; an accessor cannot") {
  if (!torch::cuda::is_available()) return;
  const auto x = torch::ones({2, 3}, torch::kCUDA);
  const auto packed = x.packed_accessor32<float, 2>();
  CHECK((packed.data() == x.data_ptr<float>() && packed.size(1) == 3 && packed.stride(0) == 3));
  const auto generic = x.generic_packed_accessor<float, 2, torch::DefaultPtrTraits, int32_t>();
  static_assert(std::is_same_v<decltype(generic), decltype(packed)>);
  CHECK_THROWS_WITH((x.accessor<float, 2>()), ContainsSubstring("on the CPU"));
}
