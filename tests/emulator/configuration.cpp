#include <stdexcept>

#include "catch.h"
#include "taper/kernels/emulator/control.h"
#include "taper/kernels/emulator/memory.h"
#include "taper/kernels/emulator/options.h"

using namespace taper::emulator;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("TAPER_EMULATOR is read item by item") {
  const Options options = parse_options(
      "devices=2,memory=512M,seed=7,streams=eager,fail=cudaMalloc:3,fail=device:9:700");
  CHECK(options.devices == 2);
  CHECK(options.memory == size_t{512} << 20);
  CHECK(options.seed == 7);
  CHECK_FALSE(options.deferred);
  REQUIRE(options.fail.size() == 2);
  CHECK(options.fail[0].what == "cudaMalloc");
  CHECK(options.fail[0].at == 3);
  CHECK(options.fail[0].status == cudaSuccess);
  CHECK(options.fail[1].status == cudaErrorIllegalAddress);
  CHECK(parse_options("seed=1").deferred);
  CHECK(parse_options("multiprocessors=132").multiprocessors == 132);
  CHECK_FALSE(parse_options("kernels=off").kernels);
  CHECK_FALSE(parse_options("").deferred);
  CHECK(parse_options(" devices=2, threads=1 ,, ").threads == 1);
  CHECK(parse_options("devices=2,seed=7,devices=3").devices == 3);  // what was appended counts
}

TEST_CASE("protect=key is refused where there are no protection keys") {
  if (has_protection_keys()) {
    CHECK(parse_options("protect=key").protect == Protection::kKey);
  } else {
    CHECK_THROWS_WITH(parse_options("protect=key"),
                      ContainsSubstring("protect=key needs protection keys"));
  }
}

TEST_CASE("A wrong setting is refused with what is allowed") {
  const auto message = [](const char* text) -> std::string {
    try {
      parse_options(text);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK_THAT(message("device=2"),
             ContainsSubstring("no setting \"device\"") && ContainsSubstring("devices, memory"));
  for (const char* text :
       {"devices=0", "devices=two", "devices", "memory=12X", "memory=1K", "memory=99999999999G",
        "seed=-1", "streams=lazy", "fill=1", "protect=yes", "trace=", "trace=/no/such/folder/file",
        "kernels=0", "multiprocessors=0", "fail=cudaMalloc", "fail=:3", "fail=cudaMalloc:0"}) {
    INFO(text);
    CHECK_THAT(message(text), ContainsSubstring("allowed: "));
  }
}
