#include "machine.h"

using namespace cuda_tests;

namespace {

void copy_later(const Memory& to, PinnedInts& from, const Stream& stream) {
  require_ok(cuda_runtime().copy(to.get(), stream.device, from.get(), kHost, sizeof(int), stream,
                                 {}, true));
}

}  // namespace

TEST_CASE("cuda pinned memory: it is recognised, its inner addresses too, and nothing else is") {
  const Machine machine("devices=1");
  const PinnedInts numbers(100);
  CHECK(cuda_runtime().is_pinned(numbers.get()));
  CHECK(cuda_runtime().is_pinned(numbers.get() + 99));
  const int ordinary = 0;
  CHECK_FALSE(cuda_runtime().is_pinned(&ordinary));
  void* foreign = nullptr;
  REQUIRE(cudaMallocHost(&foreign, 100) == cudaSuccess);
  CHECK(cuda_runtime().is_pinned(foreign));
  REQUIRE(cudaFreeHost(foreign) == cudaSuccess);
  CHECK_FALSE(cuda_runtime().is_pinned(foreign));
  void* none = &none;
  require_ok(cuda_runtime().allocate_pinned(&none, 0));
  CHECK(none == nullptr);
}

#if !defined(TAPER_NO_CACHE)

TEST_CASE("cuda pinned memory: a block is used again for sizes like its own") {
  const Machine machine("devices=1");
  PinnedInts first(300);
  int* const place = first.get();
  first.release();
  const int64_t before = emulator::call_count("cudaHostAlloc");
  PinnedInts small(10);
  CHECK(small.get() != place);  // far too large for it
  const PinnedInts second(400);
  CHECK(second.get() == place);
  CHECK(emulator::call_count("cudaHostAlloc") == before + 1);
}

TEST_CASE("cuda pinned memory: a block is not handed out again before its copies have run") {
  const Machine machine("devices=2,seed=0,streams=deferred");  // waiting for one runs no other
  const Stream stream = cuda_stream();
  const OwnStream other(1);
  const Memory a(sizeof(int), stream), b(sizeof(int), other);
  PinnedInts numbers(1, 5);
  int* const place = numbers.get();
  copy_later(a, numbers, stream);
  copy_later(b, numbers, other);
  numbers.release();
  PinnedInts second(1, 6);  // the emulator would report it if this were the same memory
  CHECK(second.get() != place);
  require_ok(cuda_runtime().stream_synchronize(stream));
  PinnedInts third(1, 7);
  CHECK(third.get() != place);
  require_ok(cuda_runtime().stream_synchronize(other));
  const PinnedInts fourth(1, 8);
  CHECK(fourth.get() == place);
  CHECK(download(a, 1, stream)[0] == 5);
  CHECK(download(b, 1, other)[0] == 5);
}

TEST_CASE("cuda pinned memory: what the cache holds goes back, after the copies") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  const Memory memory(sizeof(int), stream);
  PinnedInts numbers(1, 5);
  copy_later(memory, numbers, stream);
  numbers.release();
  require_ok(cuda_runtime().empty_cache());
  CHECK(download(memory, 1, stream)[0] == 5);
  const int64_t before = emulator::call_count("cudaHostAlloc");
  const PinnedInts again(1);
  CHECK(emulator::call_count("cudaHostAlloc") == before + 1);
}

TEST_CASE("cuda pinned memory: it outlives the stream that used it") {
  const Machine machine("streams=deferred");
  const Memory memory(sizeof(int), cuda_stream());
  PinnedInts numbers(1, 5);
  int* const place = numbers.get();
  {
    const OwnStream gone;
    copy_later(memory, numbers, gone);
  }
  numbers.release();
  const PinnedInts second(1, 6);
  CHECK(second.get() != place);  // the default stream has to wait for it first
  CHECK(download(memory, 1, cuda_stream())[0] == 5);
  const PinnedInts third(1, 7);
  CHECK(third.get() == place);
}

#endif

TEST_CASE("cuda pinned memory: when there is none, the cache is freed; then the call is named") {
  const Machine machine("devices=1");
  void* memory = nullptr;
  emulator::inject("cudaHostAlloc", 1);
  require_ok(cuda_runtime().allocate_pinned(&memory, 3 * kMiB));
  cuda_runtime().release_pinned(memory);
  emulator::inject("cudaHostAlloc", 1);
  emulator::inject("cudaHostAlloc", 2);
  const Status status = cuda_runtime().allocate_pinned(&memory, 30 * kMiB);
  CHECK(status.code == Code::kOutOfMemory);
  CHECK(status.value == 30 * kMiB);
  CHECK(memory == nullptr);
  contains(text_of(status), "cudaHostAlloc: the system does not give 30.00 MiB of pinned memory");
  CHECK(cuda_runtime().allocate_pinned(&memory, SIZE_MAX).code == Code::kOutOfMemory);
  emulator::inject("cudaHostAlloc", 1, cudaErrorNotSupported);
  contains(text_of(cuda_runtime().allocate_pinned(&memory, 30 * kMiB)),
           "cudaHostAlloc: cudaErrorNotSupported");
  CHECK(cuda_runtime().live_allocations() == 0);
}

TEST_CASE("cuda pinned memory: a lost device holds nothing back") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  const Memory memory(sizeof(int), stream);
  PinnedInts numbers(1);
  copy_later(memory, numbers, stream);
  emulator::inject("device", 1);
  CHECK_FALSE(cuda_runtime().stream_synchronize(stream).ok());
  numbers.release();
  CHECK(cuda_runtime().live_allocations() == 1);  // memory
}
