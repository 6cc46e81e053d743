#include "taper/core/memory.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "taper/core/error.h"
#include "taper/core/storage.h"
#include "taper/core/system_memory.h"

using namespace taper;
using Catch::Matchers::ContainsSubstring;

namespace {

// Sets a limit for one test.
struct Limit {
  explicit Limit(int64_t bytes) : before(cpu_memory_stats().limit) { set_cpu_memory_limit(bytes); }
  ~Limit() { set_cpu_memory_limit(before); }
  int64_t before;
};

}  // namespace

TEST_CASE("storages of every size are aligned, writable and distinct") {
  std::vector<StorageRef> storages;
  std::vector<size_t> sizes;
  for (size_t size = 0; size < (size_t{9} << 20); size = size * 3 / 2 + 1) sizes.push_back(size);
  for (const size_t edge : {767, 768, 769, 1024, 1025, 2097151, 2097152, 2097153})
    sizes.push_back(edge);
  for (const size_t size : sizes) {
    storages.push_back(allocate_storage(size, kCPU));
    StorageImpl& storage = *storages.back();
    CHECK(storage.nbytes == size);
    CHECK(reinterpret_cast<uintptr_t>(storage.data) % (size > 768 ? 64 : 16) == 0);
    std::memset(storage.data, static_cast<int>(storages.size()), size);
  }
  for (size_t i = 0; i < storages.size(); ++i) {
    const unsigned char* bytes = static_cast<const unsigned char*>(storages[i]->data);
    const unsigned char mark = static_cast<unsigned char>(i + 1);
    if (sizes[i] > 0) CHECK((bytes[0] == mark && bytes[sizes[i] - 1] == mark));
  }
}

TEST_CASE("statistics count what tensors hold, and the peak") {
  const CpuMemoryStats before = cpu_memory_stats();
  reset_peak_cpu_memory_stats();
  {
    const StorageRef a = allocate_storage(10 << 20, kCPU);
    const StorageRef b = allocate_storage(1000, kCPU);
    CHECK(cpu_memory_stats().current == before.current + (10 << 20) + 1000);
  }
  const CpuMemoryStats after = cpu_memory_stats();
  CHECK(after.current == before.current);
  CHECK(after.peak == before.current + (10 << 20) + 1000);
  CHECK(after.allocations == before.allocations + 2);
  CHECK(after.frees == before.frees + 2);
  empty_cpu_cache();
  CHECK(cpu_memory_stats().cached == 0);
}

#if !defined(TAPER_NO_CACHE)
TEST_CASE("a freed block is handed out again") {
  void* first;
  {
    const StorageRef storage = allocate_storage(3 << 20, kCPU);
    first = storage->data;
  }
  const int64_t asked = cpu_memory_stats().system_allocations;
  CHECK(allocate_storage((3 << 20) - 5, kCPU)->data == first);
  CHECK(cpu_memory_stats().system_allocations == asked);
}
#endif

TEST_CASE("above the limit there is an OutOfMemoryError with the numbers, and work goes on") {
  empty_cpu_cache();
  const Limit limit(cpu_memory_stats().current + (100 << 20));
  const StorageRef kept = allocate_storage(60 << 20, kCPU);
  const int64_t current = cpu_memory_stats().current;
  try {
    allocate_storage(50 << 20, kCPU);
    FAIL("did not throw");
  } catch (const OutOfMemoryError& error) {
    const std::string text = error.what();
    CHECK_THAT(text, ContainsSubstring("you tried to allocate 52428800 bytes (50.00 MiB)"));
    CHECK_THAT(text, ContainsSubstring("TAPER_CPU_MEMORY_LIMIT"));
    CHECK_THAT(text, ContainsSubstring("Hint: "));
  }
  CHECK(cpu_memory_stats().current == current);
  CHECK(allocate_storage(30 << 20, kCPU)->data != nullptr);
}

TEST_CASE("cached memory makes room under the limit") {
  empty_cpu_cache();
  const Limit limit(cpu_memory_stats().current + (100 << 20));
  allocate_storage(70 << 20, kCPU);  // freed at once: cached
  const StorageRef other = allocate_storage(90 << 20, kCPU);
  CHECK(cpu_memory_stats().cached <= (10 << 20));
}

TEST_CASE("more than the machine has is refused before it is touched") {
  const int64_t available = available_cpu_memory();
  if (available < 0) return;
  CHECK_THROWS_WITH(allocate_storage(static_cast<size_t>(available) * 2, kCPU),
                    ContainsSubstring("are available"));
  CHECK_THROWS_AS(allocate_storage(SIZE_MAX / 2, kCPU), OutOfMemoryError);
  CHECK_THROWS_AS(allocate_storage(SIZE_MAX, kCPU), OutOfMemoryError);
  CHECK(allocate_storage(1 << 20, kCPU)->data != nullptr);
}

TEST_CASE("a negative limit is refused") { CHECK_THROWS_AS(set_cpu_memory_limit(-1), ValueError); }

TEST_CASE("limits are written with units of 1024") {
  using detail::parse_bytes;
  CHECK(parse_bytes("4096") == 4096);
  CHECK(parse_bytes("1G") == int64_t{1} << 30);
  CHECK(parse_bytes("1.5M") == 3 << 19);
  CHECK(parse_bytes("64k") == 65536);
  CHECK(parse_bytes("2GiB") == int64_t{2} << 30);
  CHECK(parse_bytes("2TB") == int64_t{2} << 40);
  for (const char* text : {"", "G", "-1", "1X", "1GG", "nan", "1e40"}) {
    CAPTURE(text);
    CHECK(parse_bytes(text) < 0);
  }
  CHECK(detail::readable_bytes(512) == "512 bytes");
  CHECK(detail::readable_bytes(3 << 19) == "1.50 MiB");
}

TEST_CASE("borrowed memory goes back through its deleter, once") {
  static int calls;
  calls = 0;
  float values[4];
  {
    const StorageRef a = borrow_storage(
        values, sizeof values, kCPU, [](void* context, void*) { ++*static_cast<int*>(context); },
        &calls);
    const StorageRef b = a;
    CHECK(b->data == values);
    CHECK(calls == 0);
  }
  CHECK(calls == 1);
  borrow_storage(values, sizeof values, kCPU, nullptr, nullptr);
}

TEST_CASE("blocks may be freed by another thread than made them") {
  for (int round = 0; round < 50; ++round) {
    std::vector<StorageRef> made;
    std::thread maker([&] {
      for (int i = 0; i < 1500; ++i) made.push_back(allocate_storage(i % 1200, kCPU));
    });
    maker.join();
    std::thread([&] { made.clear(); }).join();
  }
  CHECK(allocate_storage(100, kCPU)->data != nullptr);
}

#if defined(__linux__) && !defined(TAPER_NO_CACHE)
TEST_CASE("memory of many small blocks goes back to the system, whoever frees them") {
  const auto resident_mib = [] {
    int64_t size = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> size >> pages;
    return pages * sysconf(_SC_PAGESIZE) >> 20;
  };
  empty_cpu_cache();
  const int64_t before = resident_mib();
  std::vector<StorageRef> made(600'000);
  for (StorageRef& storage : made) {
    storage = allocate_storage(768, kCPU);
    std::memset(storage->data, 1, 768);
  }
  CHECK(resident_mib() > before + 450);
  // Freed in an order that has nothing to do with memory's: 7919 is prime.
  std::thread([&] {
    for (size_t i = 0; i < made.size(); ++i) made[i * 7919 % made.size()] = StorageRef();
  }).join();
  CHECK(resident_mib() < before + 300);  // some slabs are kept
  empty_cpu_cache();
  CHECK(resident_mib() < before + 30);
}
#endif

TEST_CASE("threads allocate side by side") {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &wrong] {
      for (int i = 0; i < 5000; ++i) {
        const size_t size = static_cast<size_t>((i * 7919 + t) % 100'000);
        const StorageRef storage = allocate_storage(size + 1, kCPU);
        char* bytes = static_cast<char*>(storage->data);
        bytes[0] = static_cast<char>(t);
        bytes[size] = static_cast<char>(t);
        if (i % 16 == 0) std::this_thread::yield();
        wrong[static_cast<size_t>(t)] += bytes[0] != t || bytes[size] != t;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("CUDA memory is refused in plain words") {
  CHECK_THROWS_WITH(allocate_storage(4, kCUDA), ContainsSubstring("CUDA is not available"));
}
