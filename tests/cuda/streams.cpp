#include <thread>

#include "machine.h"
#include "taper/kernels/cuda/device_guard.h"

using namespace cuda_tests;

namespace {

class OwnEvent {
 public:
  explicit OwnEvent(int device = 0, bool timing = false, bool blocking = false) {
    require_ok(cuda_runtime().event_create(device, timing, blocking, &event_));
    device_ = device;
  }
  ~OwnEvent() { CHECK(cuda_runtime().event_destroy(device_, event_).ok()); }
  OwnEvent(const OwnEvent&) = delete;
  OwnEvent& operator=(const OwnEvent&) = delete;
  operator void*() const { return event_; }

 private:
  int device_;
  void* event_ = nullptr;
};

void put(const Memory& memory, PinnedInts& number, const Stream& stream) {
  require_ok(cuda_runtime().copy(memory.get(), stream.device, number.get(), kHost, sizeof(int),
                                 stream, {}, true));
}

int current_device() {
  int current = -1;
  REQUIRE(cudaGetDevice(&current) == cudaSuccess);
  return current;
}

}  // namespace

TEST_CASE("cuda streams: each device has one default stream, which is not the legacy one") {
  const Machine machine("devices=2");
  void *first = nullptr, *again = nullptr, *other = nullptr;
  require_ok(cuda_runtime().default_stream(0, &first));
  require_ok(cuda_runtime().default_stream(0, &again));
  require_ok(cuda_runtime().default_stream(1, &other));
  CHECK(first != nullptr);
  CHECK(first == again);
  CHECK(first != other);
  const OwnStream own(1);
  for (void* const handle : {first, other, own->handle}) {
    unsigned flags = 0;
    REQUIRE(cudaStreamGetFlags(static_cast<cudaStream_t>(handle), &flags) == cudaSuccess);
    // The default one is in order with work that names no stream, as in PyTorch.
    CHECK(flags == (handle == own->handle ? cudaStreamNonBlocking : cudaStreamDefault));
  }
  const Status refused = cuda_runtime().stream_destroy(cuda_stream());
  CHECK(refused.code == Code::kInvalidValue);
}

TEST_CASE("cuda streams: priorities are kept within what the device has") {
  const Machine machine("devices=1");
  int least = -100, greatest = 100;
  require_ok(cuda_runtime().stream_priority_range(&least, &greatest));
  CHECK(least == 0);
  CHECK(greatest <= -1);
  for (const auto& [asked, expected] : {std::pair{0, 0}, {-1, -1}, {5, least}, {-99, greatest}}) {
    const OwnStream stream(0, asked);
    int priority = 100;
    REQUIRE(cudaStreamGetPriority(static_cast<cudaStream_t>(stream->handle), &priority) ==
            cudaSuccess);
    CHECK(priority == expected);
  }
}

TEST_CASE("cuda streams: no call changes the thread's device") {
  const Machine machine("devices=3");
  REQUIRE(cudaSetDevice(2) == cudaSuccess);
  const auto device = current_device;
  {
    const OwnStream stream(1);
    const OwnEvent event(1);
    CHECK(device() == 2);
    Memory memory(100, stream);
    require_ok(cuda_runtime().event_record(event, stream));
    require_ok(cuda_runtime().event_synchronize(1, event));
    require_ok(cuda_runtime().stream_synchronize(stream));
    require_ok(cuda_runtime().device_synchronize(0));
    memory.release();
    int64_t free = 0, total = 0;
    require_ok(cuda_runtime().memory_info(1, &free, &total));
    require_ok(cuda_runtime().empty_cache());
    CHECK(device() == 2);
  }
  CHECK(device() == 2);
}

TEST_CASE("cuda streams: work on one device makes no context on another") {
  const Machine machine("devices=3");
  const auto run = [] {
    const Stream stream = cuda_stream(1);
    const Memory memory(100 * sizeof(int), stream);
    const std::vector<int> ordinary(100, 7);
    require_ok(cuda_runtime().copy(memory.get(), 1, ordinary.data(), kHost, 100 * sizeof(int),
                                   stream, {}, false));
    PinnedInts back(100);
    require_ok(cuda_runtime().copy(back.get(), kHost, memory.get(), 1, 100 * sizeof(int), stream,
                                   {}, true));
    const OwnEvent event(1);
    require_ok(cuda_runtime().event_record(event, stream));
    require_ok(cuda_runtime().event_synchronize(1, event));
    int device = -1;
    require_ok(cuda_runtime().device_of(memory.get(), &device));
    CHECK(device == 1);
    CHECK_FALSE(cuda_runtime().is_pinned(ordinary.data()));
    require_ok(cuda_runtime().empty_cache());
  };
  run();
  std::thread(run).join();
  CHECK(cuda::has_context(1));
  CHECK_FALSE(cuda::has_context(0));
  CHECK_FALSE(cuda::has_context(2));
  // A thread that is to go back to a device that nobody uses stays where it is.
  require_ok(cuda_runtime().set_device(1, false));
  require_ok(cuda_runtime().set_device(2, true));
  CHECK(current_device() == 1);
  require_ok(cuda_runtime().set_device(2, false));
  CHECK(current_device() == 2);
  require_ok(cuda_runtime().set_device(1, true));
  CHECK(current_device() == 1);
  contains(text_of(cuda_runtime().set_device(7, false)), "cudaSetDevice: cudaErrorInvalidDevice");
}

TEST_CASE("cuda streams: a new thread binds its device before anything else is called") {
  const Machine machine("devices=1");
  const Stream stream = cuda_stream();
  const Memory memory(sizeof(int), stream);
  const int64_t before = emulator::call_count("cudaSetDevice");
  std::thread([&] {
    require_ok(cuda_runtime().stream_synchronize(stream));
    require_ok(cuda_runtime().stream_synchronize(stream));
  }).join();
  CHECK(emulator::call_count("cudaSetDevice") == before + 1);
}

TEST_CASE("cuda streams: handles are the runtime's own, for calls of the program") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  const OwnEvent event;
  const Memory memory(sizeof(int), stream);
  PinnedInts number(1, 4);
  put(memory, number, stream);
  require_ok(cuda_runtime().event_record(event, stream));
  const auto handle = static_cast<cudaEvent_t>(static_cast<void*>(event));
  CHECK(cudaEventQuery(handle) == cudaErrorNotReady);
  cudaGetLastError();
  // Work that names no stream comes after what was queued on the default one, as in PyTorch.
  int back = 0;
  CHECK(cudaMemcpy(&back, memory.get(), sizeof back, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(back == 4);
  CHECK(cudaEventQuery(handle) == cudaSuccess);
}

TEST_CASE("cuda streams: a query tells whether all has run, and waits for nothing") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  const OwnEvent event;
  const Memory memory(sizeof(int), stream);
  PinnedInts number(1, 4);
  bool done = false;
  require_ok(cuda_runtime().event_query(0, event, &done));
  CHECK(done);  // never recorded: nothing to wait for
  put(memory, number, stream);
  require_ok(cuda_runtime().event_record(event, stream));
  require_ok(cuda_runtime().stream_query(stream, &done));
  CHECK_FALSE(done);
  require_ok(cuda_runtime().event_query(0, event, &done));
  CHECK_FALSE(done);
  CHECK(cudaGetLastError() == cudaSuccess);
  require_ok(cuda_runtime().event_synchronize(0, event));
  require_ok(cuda_runtime().event_query(0, event, &done));
  CHECK(done);
  require_ok(cuda_runtime().stream_query(stream, &done));
  CHECK(done);
}

TEST_CASE("cuda streams: one waits for an event of another, also of another device") {
  const int device = GENERATE(0, 1);
  const std::string order = GENERATE("streams=deferred", "seed=1", "seed=2", "seed=3", "seed=5");
  const Machine machine("devices=2," + order);
  const OwnStream first(0), second(device);
  const OwnEvent event(0);
  const Memory memory(sizeof(int), second);
  PinnedInts a(1, 1), b(1, 2), back(1, 0);
  const Memory staged(sizeof(int), first);
  put(staged, a, first);
  require_ok(cuda_runtime().copy(back.get(), kHost, staged.get(), 0, sizeof(int), first, {}, true));
  require_ok(cuda_runtime().event_record(event, first));
  require_ok(cuda_runtime().stream_wait_event(second, event));
  put(memory, back, second);  // reads what the first stream writes
  CHECK(download(memory, 1, second)[0] == 1);
}

TEST_CASE("cuda streams: events take the time between them") {
  const Machine machine("devices=1");
  const Stream stream = cuda_stream();
  const OwnEvent begin(0, true), end(0, true, true), untimed;
  require_ok(cuda_runtime().event_record(begin, stream));
  const Memory memory(kMiB, stream);
  std::vector<char> source(kMiB);
  require_ok(cuda_runtime().copy(memory.get(), 0, source.data(), kHost, kMiB, stream, {}, false));
  require_ok(cuda_runtime().event_record(end, stream));
  require_ok(cuda_runtime().event_synchronize(0, end));
  float milliseconds = -1;
  require_ok(cuda_runtime().event_elapsed(0, begin, end, &milliseconds));
  CHECK(milliseconds > 0);
  require_ok(cuda_runtime().event_record(untimed, stream));
  const Status status = cuda_runtime().event_elapsed(0, begin, untimed, &milliseconds);
  CHECK(status.code == Code::kDeviceError);
  contains(text_of(status), "cudaEventElapsedTime: ");
}

TEST_CASE("cuda streams: work that is left when one is destroyed still runs") {
  const Machine machine("streams=deferred");
  const Memory memory(sizeof(int), cuda_stream());
  PinnedInts number(1, 6);
  {
    const OwnStream stream;
    put(memory, number, stream);
  }
  CHECK(download(memory, 1, cuda_stream())[0] == 6);
}

TEST_CASE("cuda streams: synchronising a device waits for all its streams") {
  const Machine machine("devices=2,streams=deferred");
  const OwnStream a, b;
  const Memory on_a(sizeof(int), a), on_b(sizeof(int), b);
  PinnedInts number(1, 6);
  put(on_a, number, a);
  put(on_b, number, b);
  require_ok(cuda_runtime().device_synchronize(0));
  bool done = false;
  for (const Stream& stream : {static_cast<const Stream&>(a), static_cast<const Stream&>(b)}) {
    require_ok(cuda_runtime().stream_query(stream, &done));
    CHECK(done);
  }
}

TEST_CASE("cuda streams: a call that fails is named") {
  const Machine machine("devices=1");
  void* handle = &handle;
  emulator::inject("cudaStreamCreateWithPriority", 1, cudaErrorNotSupported);
  static_cast<void>(cuda_stream());
  contains(text_of(cuda_runtime().stream_create(0, 0, &handle)),
           "cudaStreamCreateWithPriority: cudaErrorNotSupported");
  CHECK(handle == nullptr);
  emulator::inject("cudaEventCreateWithFlags", 1, cudaErrorNotSupported);
  contains(text_of(cuda_runtime().event_create(0, true, false, &handle)),
           "cudaEventCreateWithFlags: cudaErrorNotSupported");
  contains(text_of(cuda_runtime().default_stream(64, &handle)), "cuda:64 does not exist");
  contains(text_of(cuda_runtime().default_stream(1, &handle)), "cudaErrorInvalidDevice");
}
