#include <cmath>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "machine.h"

using namespace cuda_tests;

namespace {

[[maybe_unused]] int64_t mallocs() { return emulator::call_count("cudaMalloc"); }

// Work that stays in the stream until something waits for it.
void keep_busy(const Stream& stream, const Memory& memory, PinnedInts& source) {
  require_ok(cuda_runtime().copy(memory.get(), stream.device, source.get(), kHost, sizeof(int),
                                 stream, {}, true));
}

void check_all_free(const DeviceMemoryStats& s) {
  CHECK(s.allocation.current == 0);
  CHECK(s.allocated_bytes.current == 0);
  CHECK(s.active_bytes.current == 0);
  CHECK(s.requested_bytes.current == 0);
  CHECK(s.inactive_split_bytes.current == 0);
  CHECK(s.allocation.allocated == s.allocation.freed);
  CHECK(s.allocated_bytes.allocated == s.allocated_bytes.freed);
}

}  // namespace

TEST_CASE("cuda allocator: zero bytes are null, and null can be released") {
  const Machine machine("devices=1");
  void* memory = &memory;
  require_ok(cuda_runtime().allocate(&memory, 0, cuda_stream()));
  CHECK(memory == nullptr);
  cuda_runtime().release(nullptr);
  CHECK(stats_of().allocation.allocated == 0);
}

#if !defined(TAPER_NO_CACHE)

TEST_CASE("cuda allocator: rounds and takes segments as PyTorch does") {
  struct Row {
    size_t bytes, allocated, reserved, split;
  };
  const Row row = GENERATE(
      Row{1, 512, 2 * kMiB, 2 * kMiB - 512}, Row{512, 512, 2 * kMiB, 2 * kMiB - 512},
      Row{513, 1024, 2 * kMiB, 2 * kMiB - 1024}, Row{kMiB, kMiB, 2 * kMiB, kMiB},
      Row{kMiB + 1, kMiB + 512, 20 * kMiB, 19 * kMiB - 512},
      Row{10 * kMiB - 512, 10 * kMiB - 512, 20 * kMiB, 10 * kMiB + 512},
      Row{10 * kMiB, 10 * kMiB, 10 * kMiB, 0}, Row{11 * kMiB + 1, 11 * kMiB + 512, 12 * kMiB, 0});
  const Machine machine("devices=1");
  INFO(row.bytes);
  const Memory memory(row.bytes, cuda_stream());
  CHECK(reinterpret_cast<uintptr_t>(memory.get()) % 512 == 0);
  const DeviceMemoryStats s = stats_of();
  CHECK(s.requested_bytes.current == static_cast<int64_t>(row.bytes));
  // The rest of a large segment that is not worth a block goes with it.
  const bool whole = row.split == 0;
  CHECK(s.allocated_bytes.current == static_cast<int64_t>(whole ? row.reserved : row.allocated));
  CHECK(s.active_bytes.current == s.allocated_bytes.current);
  CHECK(s.reserved_bytes.current == static_cast<int64_t>(row.reserved));
  CHECK(s.inactive_split_bytes.current == static_cast<int64_t>(row.split));
  CHECK(s.allocation.current == 1);
  CHECK(s.segment.current == 1);
}

TEST_CASE("cuda allocator: a freed block is handed out again on its stream at once") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  PinnedInts source(1);
  Memory first(1000, stream);
  void* const place = first.get();
  keep_busy(stream, first, source);
  const int64_t before = mallocs();
  first.release();
  const Memory second(900, stream);
  CHECK(second.get() == place);
  CHECK(mallocs() == before);
  require_ok(cuda_runtime().stream_synchronize(stream));
}

TEST_CASE("cuda allocator: takes the block that fits best, and merges what is free") {
  const Machine machine("devices=1");
  const Stream stream = cuda_stream();
  Memory a(3 * kMiB, stream), b(2 * kMiB, stream), c(2 * kMiB, stream), d(5 * kMiB, stream);
  CHECK(stats_of().segment.current == 1);
  void* const at_b = b.get();
  a.release();
  b.release();  // 5 MiB together now, and 8 MiB behind d
  Memory e(5 * kMiB, stream);
  CHECK(e.get() == static_cast<char*>(at_b) - 3 * kMiB);
  e.release();
  c.release();
  d.release();
  const DeviceMemoryStats s = stats_of();
  check_all_free(s);
  const Memory all(20 * kMiB, stream);
  CHECK(stats_of().segment.allocated == 1);
}

TEST_CASE("cuda allocator: a block goes to another stream when its own has nothing more to do") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  const OwnStream other;
  PinnedInts source(1);
  Memory memory(kMiB, stream);
  void* const place = memory.get();
  keep_busy(stream, memory, source);
  memory.release();
  Memory early(kMiB, other);
  CHECK(early.get() != place);
  require_ok(cuda_runtime().stream_synchronize(stream));
  const int64_t before = mallocs();
  Memory a(kMiB, other), b(kMiB, other);  // the rest of its own segment, and then the idle one
  CHECK(b.get() == place);
  CHECK(mallocs() == before);
}

TEST_CASE("cuda allocator: a block that another stream uses waits for that") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  const OwnStream side;
  PinnedInts source(1);
  Memory memory(4 * kMiB, stream);
  void* const place = memory.get();
  require_ok(cuda_runtime().record_stream(place, side));
  require_ok(cuda_runtime().record_stream(place, stream));  // its own: nothing to remember
  keep_busy(side, memory, source);
  memory.release();
  CHECK(stats_of().allocation.current == 0);
  CHECK(stats_of().allocated_bytes.current == 0);
  CHECK(stats_of().active_bytes.current == 4 * kMiB);
  Memory elsewhere(4 * kMiB, stream);
  CHECK(elsewhere.get() != place);
  require_ok(cuda_runtime().stream_synchronize(side));
  const Memory again(4 * kMiB, stream);
  CHECK(again.get() == place);
  CHECK(stats_of().active_bytes.current == 8 * kMiB);
}

TEST_CASE("cuda allocator: on exhaustion it frees its cache and asks again") {
  const Machine machine("memory=64M");
  const Stream stream = cuda_stream();
  Memory(40 * kMiB, stream).release();
  const Memory large(50 * kMiB, stream);
  DeviceMemoryStats s = stats_of();
  CHECK(s.alloc_retries == 1);
  CHECK(s.ooms == 0);
  CHECK(s.reserved_bytes.current == 50 * kMiB);
  CHECK(s.reserved_bytes.freed == 40 * kMiB);
}

TEST_CASE("cuda allocator: waits for what other streams use before it gives up") {
  const Machine machine("memory=64M,streams=deferred");
  const Stream stream = cuda_stream();
  const OwnStream side;
  PinnedInts source(1);
  Memory memory(40 * kMiB, stream);
  require_ok(cuda_runtime().record_stream(memory.get(), side));
  keep_busy(side, memory, source);
  void* const place = memory.get();
  memory.release();
  const Memory again(40 * kMiB, stream);
  CHECK(again.get() == place);
  CHECK(stats_of().alloc_retries == 1);
}

TEST_CASE("cuda allocator: the segments that are free go back to the driver") {
  const Machine machine("devices=1");
  const Stream stream = cuda_stream();
  const Memory kept(10, stream);
  Memory(3 * kMiB, stream).release();
  CHECK(stats_of().segment.current == 2);
  require_ok(cuda_runtime().empty_cache());
  const DeviceMemoryStats s = stats_of();
  CHECK(s.segment.current == 1);
  CHECK(s.reserved_bytes.current == 2 * kMiB);
  CHECK(s.reserved_bytes.peak == 22 * kMiB);
}

TEST_CASE("cuda allocator: what a destroyed stream had goes to the default stream, which waits") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  PinnedInts source(1, 7);
  void* place = nullptr;
  {
    const OwnStream gone;
    Memory memory(kMiB, gone);
    place = memory.get();
    keep_busy(gone, memory, source);
    memory.release();
  }
  const Memory memory(kMiB, stream);
  CHECK(memory.get() == place);
  CHECK(download(memory, 1, stream)[0] == 7);  // the work that was left has run before
}

TEST_CASE("cuda allocator: keeps its books through a thousand random steps") {
  const Machine machine("memory=256M");
  const OwnStream a, b;
  std::mt19937 random(1);
  std::vector<Memory> held;
  int64_t requested = 0;
  std::vector<size_t> sizes;
  for (int step = 0; step < 1000; ++step) {
    if (held.empty() || random() % 5 < 3) {
      const size_t bytes = 1 + random() % (random() % 4 == 0 ? 4 * kMiB : 20000);
      if (requested + static_cast<int64_t>(bytes) > 100 * static_cast<int64_t>(kMiB)) continue;
      held.emplace_back(bytes, random() % 2 ? static_cast<const Stream&>(a) : b);
      if (random() % 4 == 0) require_ok(cuda_runtime().record_stream(held.back().get(), a));
      sizes.push_back(bytes);
      requested += static_cast<int64_t>(bytes);
    } else {
      const size_t which = random() % held.size();
      std::vector<Memory> rest;
      for (size_t i = 0; i < held.size(); ++i) {
        if (i != which) rest.push_back(std::move(held[i]));
      }
      held.swap(rest);
      requested -= static_cast<int64_t>(sizes[which]);
      sizes.erase(sizes.begin() + static_cast<ptrdiff_t>(which));
    }
    const DeviceMemoryStats s = stats_of();
    REQUIRE(s.requested_bytes.current == requested);
    REQUIRE(s.allocation.current == static_cast<int64_t>(held.size()));
    REQUIRE(s.allocated_bytes.current >= requested);
    REQUIRE(s.active_bytes.current >= s.allocated_bytes.current);
    REQUIRE(s.active_bytes.current + s.inactive_split_bytes.current <= s.reserved_bytes.current);
    REQUIRE(cuda_runtime().live_allocations() == s.allocation.current);
  }
  held.clear();
  require_ok(cuda_runtime().empty_cache());
  check_all_free(stats_of());
  CHECK(stats_of().reserved_bytes.current == 0);
  CHECK(stats_of().segment.current == 0);
}

#endif  // TAPER_NO_CACHE

TEST_CASE("cuda allocator: out of memory comes with PyTorch's words and the numbers") {
  const Machine machine("memory=64M,devices=2");
  const Stream stream = cuda_stream(1);
  {
    const Memory held(20 * kMiB, stream);
    void* memory = nullptr;
    const Status status = cuda_runtime().allocate(&memory, 50 * kMiB, stream);
    CHECK(status.code == Code::kOutOfMemory);
    CHECK(status.value == 50 * kMiB);
    CHECK(memory == nullptr);
    // 512 bytes of the device are the module's own, for faults.
    CHECK(text_of(status) ==
          "CUDA out of memory. Tried to allocate 50.00 MiB. GPU 1 has a total capacity of 64.00 "
          "MiB of which 44.00 MiB is free. Of the allocated memory 20.00 MiB is allocated by "
          "Taper, and 0 bytes is reserved by Taper but unallocated.");
    CHECK(stats_of(1).ooms == 1);
    CHECK(stats_of(0).ooms == 0);
    const Memory fits(30 * kMiB, stream);  // and the program goes on
    CHECK(fits.get() != nullptr);
  }
  void* memory = nullptr;
  const Status absurd = cuda_runtime().allocate(&memory, SIZE_MAX, stream);
  CHECK(absurd.code == Code::kOutOfMemory);
}

TEST_CASE("cuda allocator: keeps to a share of the device") {
  const Machine machine("memory=64M");
  const Stream stream = cuda_stream();
  require_ok(cuda_runtime().set_memory_fraction(0, 0.5));
  const Memory held(20 * kMiB, stream);
  void* memory = nullptr;
  const Status status = cuda_runtime().allocate(&memory, 20 * kMiB, stream);
  CHECK(status.code == Code::kOutOfMemory);
  contains(text_of(status), "is free. 32.00 MiB allowed; Of the allocated memory 20.00 MiB");
  require_ok(cuda_runtime().set_memory_fraction(0, 1));
  const Memory fits(20 * kMiB, stream);
  const Status wrong = cuda_runtime().set_memory_fraction(0, 1.5);
  CHECK(wrong.code == Code::kInvalidValue);
  contains(text_of(wrong), "set_memory_fraction: 1.5");
  CHECK(cuda_runtime().set_memory_fraction(0, std::nan("")).code == Code::kInvalidValue);
}

TEST_CASE("cuda allocator: a failing cudaMalloc is tried again, and another error is named") {
  const Machine machine("devices=1");
  const Stream stream = cuda_stream();
  emulator::inject("cudaMalloc", 1);
  const Memory memory(3 * kMiB, stream);
  CHECK(stats_of().alloc_retries == 1);
  emulator::inject("cudaMalloc", 1, cudaErrorNotSupported);
  void* none = nullptr;
  const Status status = cuda_runtime().allocate(&none, 30 * kMiB, stream);
  CHECK(status.code == Code::kDeviceError);
  contains(text_of(status), "cudaMalloc: cudaErrorNotSupported: operation not supported");
  CHECK(cudaGetLastError() == cudaSuccess);  // nothing is left for a later call to report
}

TEST_CASE("cuda allocator: each thing that making a device needs may fail, and nothing leaks") {
  const char* const call = GENERATE("cudaStreamCreateWithFlags", "cudaHostAlloc", "cudaMalloc",
                                    "cudaMemcpyAsync", "cudaStreamSynchronize");
  const Machine machine("devices=1");
  emulator::inject(call, 1, cudaErrorNotSupported);
  void* memory = nullptr;
  const Status status = cuda_runtime().allocate(&memory, 100, Stream{nullptr, nullptr, 0});
  CHECK(status.code == Code::kDeviceError);
  contains(text_of(status), std::string(call) + ": cudaErrorNotSupported");
  CHECK(emulator::live_objects() == "");
  const Memory works(100, cuda_stream());
  CHECK(works.get() != nullptr);
}

TEST_CASE("cuda allocator: when the device is lost, its memory is given back all the same") {
  const Machine machine("streams=deferred");
  const Stream stream = cuda_stream();
  Stream side = stream;
  require_ok(cuda_runtime().stream_create(0, 0, &side.handle));
  PinnedInts source(1);
  Memory memory(kMiB, stream), other(30 * kMiB, stream);
  require_ok(cuda_runtime().record_stream(memory.get(), side));
  keep_busy(side, memory, source);
  emulator::inject("device", 1);
  const Status lost = cuda_runtime().stream_synchronize(side);
  CHECK(lost.code == Code::kDeviceError);
  contains(text_of(lost), "cudaStreamSynchronize: cudaErrorDevicesUnavailable");
  memory.release();
  other.release();
  source.release();
  void* none = nullptr;
  const Status status = cuda_runtime().allocate(&none, 100 * kMiB, stream);
  contains(text_of(status), "cudaErrorDevicesUnavailable");
  CHECK(cuda_runtime().empty_cache().ok() == !kCached);  // it says so where it has to free
  CHECK(stats_of().reserved_bytes.current == 0);
  CHECK_FALSE(cuda_runtime().stream_destroy(side).ok());  // says so, and destroys it
}

TEST_CASE("cuda allocator: counters can be reset") {
  const Machine machine("devices=1");
  const Stream stream = cuda_stream();
  Memory(5 * kMiB, stream).release();
  const Memory held(100, stream);
  require_ok(cuda_runtime().reset_peak_memory_stats(0));
  CHECK(stats_of().requested_bytes.peak == 100);
  CHECK(stats_of().allocation.allocated == 2);
  require_ok(cuda_runtime().reset_accumulated_memory_stats(0));
  CHECK(stats_of().allocation.allocated == 0);
  CHECK(stats_of().allocation.freed == 0);
  CHECK(stats_of().allocation.current == 1);
}

TEST_CASE("cuda allocator: the summary is a table of the counters") {
  const Machine machine("devices=2");
  const Memory held(3 * kMiB, cuda_stream(1));
  const char* text = nullptr;
  require_ok(cuda_runtime().memory_summary(1, &text));
  const std::string table = text;
  contains(table, "Taper CUDA memory summary, device 1");
  contains(table, "CUDA OOMs: 0");
  contains(table, "| Requested memory      |   3072 KiB |   3072 KiB |   3072 KiB |      0 B   |");
  size_t width = table.find('\n');
  for (size_t at = 0; at < table.size(); at += width + 1) CHECK(table[at + width] == '\n');
}

TEST_CASE("cuda allocator: threads and devices do not get in each other's way") {
  const Machine machine("devices=2,memory=512M");
  const Stream streams[] = {cuda_stream(0), cuda_stream(1)};
  std::mutex mutex;
  std::map<char*, size_t> live;
  bool overlap = false, failed = false;
  const auto give_back = [&](char* memory) {
    {
      const std::lock_guard lock(mutex);
      live.erase(memory);
    }
    cuda_runtime().release(memory);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      std::vector<char*> mine;
      for (int step = 0; step < 300; ++step) {
        if (mine.size() < 8 && random() % 3 != 0) {
          const size_t bytes = 1 + random() % (2 * kMiB);
          void* memory = nullptr;
          if (!cuda_runtime().allocate(&memory, bytes, streams[t % 2]).ok()) {
            failed = true;
            return;
          }
          const std::lock_guard lock(mutex);
          const auto next = live.lower_bound(static_cast<char*>(memory));
          overlap |= next != live.end() && next->first < static_cast<char*>(memory) + bytes;
          overlap |=
              next != live.begin() && std::prev(next)->first + std::prev(next)->second > memory;
          live[static_cast<char*>(memory)] = bytes;
          mine.push_back(static_cast<char*>(memory));
        } else if (!mine.empty()) {
          give_back(mine.back());
          mine.pop_back();
        }
      }
      for (char* const memory : mine) give_back(memory);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_FALSE(failed);
  CHECK_FALSE(overlap);
  check_all_free(stats_of(0));
  check_all_free(stats_of(1));
}
