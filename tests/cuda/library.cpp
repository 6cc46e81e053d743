#include "taper/kernels/cuda/library.h"

#include <cstdlib>

#include "support.h"

// How libraries that are not linked are found.

using taper::kernels::cuda::Library;

TEST_CASE("a library is opened by the first of its names that is there") {
  Library library({"libthere-is-none.so.1", "libm.so.6"});
  REQUIRE(library.is_open());
  CHECK(library.problem().empty());
  const auto cosine = reinterpret_cast<double (*)(double)>(library.symbol("cos"));
  REQUIRE(cosine != nullptr);
  CHECK(cosine(0) == 1);
  CHECK(library.symbol("there_is_none") == nullptr);
  CHECK(library.problem() == "the library has no there_is_none");
}

TEST_CASE("what is not there is reported with the places where it was sought") {
  Library library({"libthere-is-none.so.1"});
  CHECK_FALSE(library.is_open());
  CHECK(library.symbol("cos") == nullptr);
  for (const char* const part :
       {"libthere-is-none.so.1", "/usr/local/cuda/lib64", "nvidia/*/lib"}) {
    CHECK(library.problem().find(part) != std::string::npos);
  }
}

TEST_CASE("a variable says whose kernels serve; a library that has to be there is missed aloud") {
  using taper::kernels::cuda::check_wish;
  using taper::kernels::cuda::Wish;
  using taper::kernels::cuda::wish_for;
  const auto wish = [](const char* value) {
    setenv("TAPER_TEST_WISH", value, 1);
    return wish_for("TAPER_TEST_WISH", "cublas");
  };
  unsetenv("TAPER_TEST_WISH");
  CHECK(wish_for("TAPER_TEST_WISH", "cublas") == Wish::kAuto);
  CHECK(wish("") == Wish::kAuto);
  CHECK(wish("auto") == Wish::kAuto);
  CHECK(wish("own") == Wish::kOwn);
  CHECK(wish("cublas") == Wish::kLibrary);
  CHECK(wish("cudnn") == Wish::kUnknown);
  const auto answer = [&](const char* value, const char* problem) {
    const taper::kernels::Status status =
        check_wish(wish(value), "TAPER_TEST_WISH", "cublas", problem);
    CHECK((status.ok() || status.code == taper::kernels::Code::kDeviceError));
    return std::string(status.ok() ? "" : status.what);
  };
  CHECK(answer("cublas", "") == "");
  CHECK(answer("cublas", "libcublas.so.13 was not found") ==
        "TAPER_TEST_WISH=cublas, but libcublas.so.13 was not found");
  CHECK(answer("cudnn", "") == "TAPER_TEST_WISH=cudnn is none of auto, own, cublas");
  unsetenv("TAPER_TEST_WISH");
}
