#include <functional>
#include <sstream>
#include <string>

#include "device.h"
#include "support/tensors.h"
#include "taper/core/cuda_memory.h"
#include "taper/core/cuda_stream.h"
#include "taper/core/factories.h"
#include "taper/core/generator.h"
#include "taper/core/tensor.h"

// Tensors on CUDA devices as a program sees them: the emulator's two, or the cards that are there.

using namespace taper;

using namespace device_tests;

TEST_CASE("the module is found, and says what it is") {
  INFO(cuda::why_not_available());
  REQUIRE(cuda::is_available());
  CHECK(cuda::why_not_available() == "");
  CHECK(cuda::device_count() >= 1);
  CHECK(cuda::get_device_properties(0).warp_size == 32);
  CHECK(cuda::get_device_name() == cuda::get_device_properties(0).name);
  CHECK(cuda::versions().runtime >= 13000);
}

TEST_CASE("tensors move to a device and back, whatever their layout and dtype") {
  const Tensor whole = arange(24, kFloat).reshape({2, 3, 4});
  for (const Tensor& x : {whole, whole.transpose(0, 2), whole.select(1, 1), whole.slice(2, 0, 4, 2),
                          whole.select(0, 0).select(0, 0).expand({5, 4}), empty({0, 3})}) {
    const Tensor there = x.to(kCUDA);
    CHECK(there.device() == Device("cuda:0"));
    CHECK(there.sizes() == x.sizes());
    CHECK(support::values(there.cpu()) == support::values(x));
  }
  CHECK(whole.to(kCUDA).strides() == whole.strides());
  const Tensor on_first = whole.to("cuda");
  CHECK(on_first.to("cuda:0").is_same(on_first));
  CHECK(on_first.to(kCPU).is_cpu());
  CHECK(support::values(on_first.to(last_device()).to("cuda:0").cpu()) == support::values(whole));
}

TEST_CASE("a tensor on a device prints its elements and where it is") {
  std::ostringstream out;
  out << tensor({1., 2.}, kFloat).to(kCUDA) << arange(2).to("cuda:0");
  CHECK(out.str() == " 1\n 2\n[ CUDAFloatType{2} ] 0\n 1\n[ CUDALongType{2} ]");
}

TEST_CASE("a tensor keeps its memory and gives it back") {
  cuda::empty_cache();
  const int64_t before = cuda::memory_allocated(), bytes = kCached ? 4096 : 4000;
  cuda::reset_peak_memory_stats();
  {
    const Tensor a = empty({1000}, TensorOptions(kFloat).device(kCUDA));
    CHECK(cuda::memory_allocated() - before == bytes);
    const Tensor view = a.slice(0, 10);
    CHECK(cuda::memory_allocated() - before == bytes);
  }
  CHECK(cuda::memory_allocated() == before);
  CHECK(cuda::max_memory_allocated() - before == bytes);
  CHECK(cuda::memory_stats().at("allocated_bytes.all.peak") == cuda::max_memory_allocated());
  CHECK((cuda::memory_reserved() > 0) == kCached);
  CHECK(cuda::memory_summary().find("memory summary, device 0") != std::string::npos);
}

TEST_CASE("too much memory is an error that a program can catch") {
  const std::string message =
      error_of([] { empty({int64_t{1} << 40}, TensorOptions().device(kCUDA)); });
  CHECK(message.find("CUDA out of memory. Tried to allocate 4096.00 GiB") != std::string::npos);
  CHECK_THROWS_AS(empty({int64_t{1} << 40}, TensorOptions().device(kCUDA)), OutOfMemoryError);
  CHECK(empty({10}, TensorOptions().device(kCUDA)).numel() == 10);
}

TEST_CASE("devices that do not exist are named, and so are those that do") {
  const int count = cuda::device_count();
  const std::string there_are = count == 1 ? "this machine has one: cuda:0"
                                           : "this machine has " + std::to_string(count) +
                                                 ", cuda:0 to cuda:" + std::to_string(count - 1);
  contains(error_of([] { empty({1}, TensorOptions().device(Device("cuda:63"))); }),
           "there is no device cuda:63; " + there_are);
  contains(error_of([] { cuda::set_device(63); }), "no device cuda:63");
  CHECK(error_of([] { Device("mps"); }) != "");
}

TEST_CASE("the current device is the thread's") {
  CHECK(cuda::current_device() == 0);
  {
    const cuda::DeviceGuard guard(last_device().index());
    CHECK(cuda::current_device() == last_device().index());
    CHECK(empty({1}, TensorOptions().device(kCUDA)).device() == last_device());
  }
  CHECK(cuda::current_device() == 0);
}

TEST_CASE("pinned memory, and copies that do not wait") {
  const Tensor x = arange(1000, kFloat);
  const Tensor pinned = x.pin_memory();
  CHECK(pinned.is_pinned());
  CHECK_FALSE(x.is_pinned());
  CHECK(pinned.pin_memory().is_same(pinned));
  const Tensor there = pinned.to(kCUDA, /*non_blocking=*/true);
  const Tensor back = empty({1000}, TensorOptions().pinned_memory(true));
  back.copy_(there, true);
  cuda::synchronize();
  CHECK(back.equal(x));
  CHECK(error_of([&] { there.pin_memory(); }).find("only dense CPU tensors can be pinned") !=
        std::string::npos);
}

TEST_CASE("streams and events order work") {
  contains(error_of([] { cuda::Stream(0, 7); }), "priority to be less than or equal to 0, got 7");
  const cuda::Stream other;
  CHECK_FALSE(other == cuda::Stream::default_stream());
  CHECK(other.id() != cuda::Stream::default_stream().id());
  CHECK(other.id() == cuda::Stream(other).id());
  const Tensor x = arange(1000, kFloat).to(kCUDA);
  Tensor y;
  cuda::Event ready;
  ready.record();
  {
    const cuda::StreamGuard guard(other);
    CHECK(cuda::current_stream() == other);
    other.wait_event(ready);
    y = empty({1000}, x.options());
    y.copy_(x.cpu());
    x.record_stream(other);
  }
  cuda::current_stream().wait_stream(other);
  CHECK(y.cpu().equal(x.cpu()));
  CHECK(other.query());
  cuda::Event begin(true), end(true);
  CHECK(error_of([&] { (void)begin.elapsed_time(end); }).find("recorded") != std::string::npos);
  begin.record();
  end.record();
  end.synchronize();
  CHECK(begin.elapsed_time(end) >= 0);
}

TEST_CASE("each device has its generator") {
  manual_seed(7);
  const Generator first = detail::getDefaultCUDAGenerator(0);
  CHECK(first.device() == Device("cuda:0"));
  CHECK(first.current_seed() == 7);
  CHECK(detail::getDefaultCUDAGenerator(last_device().index()).current_seed() == 7);
  cuda::manual_seed(8);
  CHECK(first.current_seed() == 8);
  if (cuda::device_count() > 1) {
    CHECK(detail::getDefaultCUDAGenerator(last_device().index()).current_seed() == 7);
  }
  CHECK(first.state_bytes().size() == 16);
  CHECK(
      error_of([] {
        empty({3}, TensorOptions().device(kCUDA)).uniform_(0, 1, detail::getDefaultCPUGenerator());
      }).find("Expected a 'cuda' device type for generator but found 'cpu'") != std::string::npos);
}

TEST_CASE("an event that was moved from is one that was never recorded") {
  cuda::Event first;
  first.record();
  cuda::Event second = std::move(first);
  CHECK(first.query());
  first.synchronize();
  second.synchronize();
  CHECK(second.query());
  first.record();
  first.synchronize();
  CHECK(first.query());
}

TEST_CASE("a gradient has to be where its tensor is, but for a number") {
  const Tensor weight = ones({2}, TensorOptions(kCUDA).requires_grad(true));
  CHECK(error_of([&] { (weight * 2).backward(ones({2}, kCPU)); }) ==
        "invalid gradient at index 0 - expected device cuda:0 but got cpu");
  CHECK(!weight.grad().defined());
  (weight * 2).sum().backward(tensor(3.0f, kCPU));
  CHECK(weight.grad().device() == Device(kCUDA, 0));
  CHECK(weight.grad().cpu().equal(full({2}, 6.0f)));
}

TEST_CASE("memory and generators of `cuda` are those of the current device") {
  const Tensor owner = arange(4, TensorOptions(kFloat).device(kCUDA));
  const Tensor borrowed = from_blob(owner.data_ptr(), {4}, TensorOptions(kFloat).device(kCUDA));
  CHECK(borrowed.device() == Device(kCUDA, 0));
  CHECK((borrowed + 1).cpu().equal(arange(1, 5, kFloat)));
  const Tensor on_host = arange(4, kFloat), pinned = on_host.pin_memory();
  for (const Tensor& x : {on_host, pinned}) {
    const auto borrow = [&] { from_blob(x.data_ptr(), {4}, TensorOptions(kFloat).device(kCUDA)); };
    CHECK(error_of(borrow) ==
          "from_blob: the memory is the host's, but the device asked for is cuda:0");
  }
  if (cuda::device_count() > 1) {
    const Tensor elsewhere = owner.to(last_device());
    contains(error_of([&] { from_blob(elsewhere.data_ptr(), {4}, on_cuda()); }),
             "but the device asked for is cuda:0");
  }
  CHECK(Generator(5, kCUDA).device() == Device(kCUDA, 0));
  CHECK(
      support::says(error_of([] { Generator(5, Device("cuda:6")); }), "there is no device cuda:6"));
  CHECK(support::says(error_of([] { (void)Generator(5, kCUDA).state(); }),
                      "Generator::state: expected a generator of the CPU"));
}
