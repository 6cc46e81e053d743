#include <numeric>

#include "machine.h"

using namespace cuda_tests;

namespace {

std::vector<int> count_from(int first, size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

int64_t waits() { return emulator::call_count("cudaStreamSynchronize"); }

constexpr size_t kCount = 1000, kBytes = kCount * sizeof(int);

}  // namespace

TEST_CASE("cuda copies: to the device, within it, and back") {
  const bool non_blocking = GENERATE(false, true);
  const Machine machine("streams=deferred");
  const DeviceRuntime& rt = cuda_runtime();
  const Stream stream = cuda_stream();
  const Memory a(kBytes, stream), b(kBytes, stream);
  std::vector<int> from = count_from(1, kCount);
  const std::vector<int> expected = from;
  require_ok(rt.copy(a.get(), 0, from.data(), kHost, kBytes, stream, {}, non_blocking));
  from.assign(kCount, -1);  // memory that is not pinned has been read when the call returns
  require_ok(rt.copy(b.get(), 0, a.get(), 0, kBytes, stream, {}, non_blocking));
  std::vector<int> to(kCount);
  require_ok(rt.copy(to.data(), kHost, b.get(), 0, kBytes, stream, {}, non_blocking));
  CHECK(to == expected);  // and has been written
  require_ok(rt.copy(nullptr, 0, nullptr, kHost, 0, stream, {}, non_blocking));
}

TEST_CASE("cuda copies: with pinned memory they run later, unless they are to block") {
  const Machine machine("streams=deferred");
  const DeviceRuntime& rt = cuda_runtime();
  const Stream stream = cuda_stream();
  const Memory memory(kBytes, stream);
  PinnedInts from(kCount, 3), to(kCount, 0);
  int64_t before = waits();
  require_ok(rt.copy(memory.get(), 0, from.get(), kHost, kBytes, stream, {}, true));
  require_ok(rt.copy(to.get(), kHost, memory.get(), 0, kBytes, stream, {}, true));
  CHECK(waits() == before);
#if !defined(__SANITIZE_THREAD__)  // which finds that this does not wait
  CHECK(to[0] == 0);
#endif
  require_ok(rt.stream_synchronize(stream));
  CHECK(to[kCount - 1] == 3);
  before = waits();
  require_ok(rt.copy(memory.get(), 0, from.get(), kHost, kBytes, stream, {}, false));
  CHECK(waits() == before + 1);
  from[0] = 4;  // allowed: it has been read
  require_ok(rt.copy(to.get(), kHost, memory.get(), 0, kBytes, stream, {}, false));
  CHECK(waits() == before + 2);
  CHECK(to[0] == 3);
}

// Without a cache the pinned memory in between is freed, and that waits.
#if !defined(TAPER_NO_CACHE)
TEST_CASE("cuda copies: to the device from ordinary memory waits for nothing") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  const Memory memory(kBytes, stream);
  const std::vector<int> from(kCount);
  const int64_t before = waits(), work = emulator::call_count("work");
  require_ok(cuda_runtime().copy(memory.get(), 0, from.data(), kHost, kBytes, stream, {}, false));
  CHECK(waits() == before);
  CHECK(emulator::call_count("work") == work);
}
#endif

TEST_CASE("cuda copies: between devices each side waits for the other, with and without peers") {
  const std::string peers = GENERATE("on", "off");
  const std::string order = GENERATE("streams=deferred", "seed=1", "seed=2", "seed=3", "seed=4");
  const bool on_source = GENERATE(true, false);
  const Machine machine("devices=2,peers=" + peers + "," + order);
  const DeviceRuntime& rt = cuda_runtime();
  bool can = false;
  require_ok(rt.can_access_peer(0, 1, &can));
  CHECK(can == (peers == "on"));
  const OwnStream source(0), target(1);
  const Memory from(kBytes, source), to(kBytes, target);
  PinnedInts first(kCount, 1), second(kCount, 2), stale(kCount, 9);
  const auto put = [&](const Memory& memory, PinnedInts& numbers, const Stream& stream) {
    require_ok(
        rt.copy(memory.get(), stream.device, numbers.get(), kHost, kBytes, stream, {}, true));
  };
  put(to, stale, target);  // must come before the copy
  put(from, first, source);
  require_ok(rt.copy(to.get(), 1, from.get(), 0, kBytes, on_source ? source : target,
                     on_source ? target : source, true));
  put(from, second, source);  // must come after it
  CHECK(download(to, kCount, target) == std::vector<int>(kCount, 1));
  CHECK(download(from, kCount, source) == std::vector<int>(kCount, 2));
}

TEST_CASE("cuda copies: one that fails names the call, and the next one works") {
  const Machine machine("devices=2");
  const DeviceRuntime& rt = cuda_runtime();
  const Stream stream = cuda_stream();
  const Memory memory(kBytes, stream), other(kBytes, cuda_stream(1));
  std::vector<int> numbers(kCount, 1);
  emulator::inject("cudaMemcpyAsync", 1, cudaErrorNotSupported);
  const Status status = rt.copy(memory.get(), 0, numbers.data(), kHost, kBytes, stream, {}, false);
  CHECK(status.code == Code::kDeviceError);
  contains(text_of(status), "cudaMemcpyAsync: cudaErrorNotSupported");
  emulator::inject("cudaMemcpyPeerAsync", 1, cudaErrorNotSupported);
  contains(text_of(rt.copy(other.get(), 1, memory.get(), 0, kBytes, stream, cuda_stream(1), false)),
           "cudaMemcpyPeerAsync: cudaErrorNotSupported");
  emulator::inject("cudaEventRecord", 1, cudaErrorNotSupported);
  contains(text_of(rt.copy(other.get(), 1, memory.get(), 0, kBytes, stream, cuda_stream(1), false)),
           "cudaEventRecord: cudaErrorNotSupported");
  require_ok(rt.copy(memory.get(), 0, numbers.data(), kHost, kBytes, stream, {}, false));
  require_ok(rt.copy(other.get(), 1, memory.get(), 0, kBytes, stream, cuda_stream(1), false));
  CHECK(download(other, kCount, cuda_stream(1)) == numbers);
}

TEST_CASE("cuda copies: a device with all the peers it may have is reached through the host") {
  const Machine machine("devices=2");
  const Memory from(kBytes, cuda_stream()), to(kBytes, cuda_stream(1));
  const std::vector<int> numbers(kCount, 7);
  const DeviceRuntime& rt = cuda_runtime();
  require_ok(rt.copy(from.get(), 0, numbers.data(), kHost, kBytes, cuda_stream(), {}, false));
  const int64_t before = emulator::call_count("cudaDeviceEnablePeerAccess");
  emulator::inject("cudaDeviceEnablePeerAccess", 1, cudaErrorTooManyPeers);
  emulator::inject("cudaDeviceEnablePeerAccess", 2, cudaErrorTooManyPeers);
  for (int i = 0; i < 2; ++i) {
    require_ok(rt.copy(to.get(), 1, from.get(), 0, kBytes, cuda_stream(), cuda_stream(1), false));
  }
  CHECK(download(to, kCount, cuda_stream(1)) == numbers);
  CHECK(emulator::call_count("cudaDeviceEnablePeerAccess") == before + 2);  // not again and again
}

TEST_CASE("cuda copies: a copy that would leave its memory is refused with the place") {
  const Machine machine("devices=1");
  const Stream stream = cuda_stream();
  const Memory memory(30 * kMiB, stream);  // a segment of its own
  std::vector<int> numbers(kCount);
  const Status status = cuda_runtime().copy(static_cast<char*>(memory.get()) + 30 * kMiB - 8, 0,
                                            numbers.data(), kHost, kBytes, stream, {}, false);
  contains(text_of(status), "cudaMemcpyAsync: cudaErrorInvalidValue");
  contains(emulator::last_report(), "copies.cpp");
  contains(emulator::last_report(), "ends 3992 bytes behind");
}
