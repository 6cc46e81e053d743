#include "taper/kernels/backend.h"

#include <algorithm>

#include "catch.h"
#include "taper/core/error.h"

using namespace taper;
using namespace taper::kernels;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("every table that the processor runs can be chosen by name") {
  const std::vector<std::string> names = available_cpu_tables();
  REQUIRE_FALSE(names.empty());
  const std::string chosen = cpu_table_name();
  CHECK(std::find(names.begin(), names.end(), chosen) != names.end());
  for (const std::string& name : names) {
    set_cpu_table(name.c_str());
    CHECK(cpu_table_name() == name);
    CHECK(&kernels_for(kCPU) == &cpu_table());
  }
  CHECK_THROWS_WITH(set_cpu_table("v9"), ContainsSubstring("there are no CPU kernels \"v9\""));
  CHECK(cpu_table_name() == names.back());
  set_cpu_table(nullptr);
  CHECK(cpu_table_name() == chosen);
}

TEST_CASE("no table has an empty entry") {
  for (const std::string& name : available_cpu_tables()) {
    set_cpu_table(name.c_str());
    using Entry = void (*)();
    const auto* entries = reinterpret_cast<const Entry*>(&cpu_table());
    for (size_t i = 0; i < sizeof(KernelTable) / sizeof(Entry); ++i) CHECK(entries[i] != nullptr);
  }
  set_cpu_table(nullptr);
}

TEST_CASE("the host lends scratch memory and threads") {
  const Stream stream = stream_for(kCPU);
  REQUIRE(stream.host != nullptr);
  CHECK(stream.host->num_threads() >= 1);
  void* memory = stream.host->allocate(100);
  REQUIRE(memory != nullptr);
  CHECK(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
  stream.host->release(memory, 100);
  CHECK(stream.host->allocate(SIZE_MAX / 2) == nullptr);
  int64_t visited = 0;
  stream.host->parallel_for(
      10, 100,
      [](void* context, int64_t begin, int64_t end) {
        *static_cast<int64_t*>(context) += end - begin;
      },
      &visited);
  CHECK(visited == 10);
}

TEST_CASE("CUDA says that it is not there") {
  CHECK_THROWS_WITH(kernels_for(kCUDA), ContainsSubstring("CUDA is not available"));
  CHECK_THROWS_WITH(stream_for(Device("cuda:0")), ContainsSubstring("CUDA is not available"));
}

TEST_CASE("a status becomes the exception that fits") {
  CHECK_NOTHROW(check(Status{}, "add"));
  CHECK_THROWS_AS(check(unsupported(), "add"), NotImplementedError);
  CHECK_THROWS_WITH(check(unsupported(), "erfinv", kCPU, kHalf),
                    "[erfinv] has no cpu kernel for dtype float16 (\"erfinv\" not implemented for "
                    "'Half')");
  CHECK_THROWS_AS(check(index_out_of_range(7, 3), "gather"), IndexError);
  CHECK_THROWS_WITH(check(index_out_of_range(7, 3), "gather"),
                    "gather: index 7 is out of bounds for dimension with size 3");
  CHECK_THROWS_WITH(check(Status{Code::kInvalidValue, 0, 0, "division by zero"}, "floor_divide"),
                    ContainsSubstring("floor_divide: division by zero"));
  CHECK_THROWS_AS(check(Status{Code::kInvalidValue, 0, 0, "x"}, "op"), ValueError);
  CHECK_THROWS_AS(check(Status{Code::kOutOfMemory, 4096, 0, nullptr}, "gemm"), OutOfMemoryError);
  CHECK_THROWS_WITH(check(Status{Code::kDeviceError, 0, 0, "unplugged"}, "gemm"),
                    ContainsSubstring("gemm: unplugged"));
}
