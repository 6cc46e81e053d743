#include "taper/kernels/cuda/library.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "support.h"

// How libraries that are not linked are found.

using taper::kernels::cuda::Library;
using taper::kernels::cuda::LibraryChoice;

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

TEST_CASE("a library that cannot be opened does not stand in the way of the next one") {
  const auto folder = std::filesystem::temp_directory_path() / "taper-library";
  std::filesystem::create_directories(folder / "lib64");
  std::ofstream(folder / "lib64/libbroken-library.so.1") << "no library";
  const char* const home = std::getenv("CUDA_HOME");
  const std::optional<std::string> before = home ? std::optional<std::string>(home) : std::nullopt;
  setenv("CUDA_HOME", folder.c_str(), 1);
  Library broken({"libbroken-library.so.1"}), good({"libbroken-library.so.1", "libm.so.6"});
  before ? setenv("CUDA_HOME", before->c_str(), 1) : unsetenv("CUDA_HOME");
  std::filesystem::remove_all(folder);
  CHECK_FALSE(broken.is_open());
  CHECK(broken.problem().find("libbroken-library.so.1: ") != std::string::npos);
  CHECK(good.is_open());
  CHECK(good.problem() == "");
}

TEST_CASE("a library's parts are those beside it, and one that is missing is named") {
  Library library({"libm.so.6"});
  REQUIRE(library.is_open());
  library.open_part("libdl.so.2");
  CHECK(library.problem().empty());
  library.open_part("libthere-is-no-part.so.9");
  CHECK(
      library.problem().find("libm.so.6 was found, but not its part libthere-is-no-part.so.9: ") !=
      std::string::npos);
  CHECK(library.problem().find("cannot open shared object file") != std::string::npos);
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
  const auto choice = [](const char* value, const std::string& (*problem)()) {
    value ? setenv("TAPER_TEST_CHOICE", value, 1) : unsetenv("TAPER_TEST_CHOICE");
    return LibraryChoice("TAPER_TEST_CHOICE", "cublas", problem);
  };
  const auto there = []() -> const std::string& {
    static const std::string nothing;
    return nothing;
  };
  const auto missing = []() -> const std::string& {
    static const std::string problem = "libcublas.so.13 was not found";
    return problem;
  };
  for (const char* const value : {"", "auto", static_cast<const char*>(nullptr)}) {
    CHECK(choice(value, there).is_library());
    CHECK_FALSE(choice(value, missing).is_library());
  }
  const auto unopened = []() -> const std::string& { throw std::logic_error("it was opened"); };
  CHECK_FALSE(choice("own", unopened).is_library());

  const auto answer = [&](const char* value, const std::string& (*problem)()) {
    const LibraryChoice made = choice(value, problem);
    CHECK(made.is_library());
    const taper::kernels::Status status = made.check();
    CHECK((status.ok() || status.code == taper::kernels::Code::kDeviceError));
    return std::string(status.ok() ? "" : status.what);
  };
  CHECK(answer("cublas", there) == "");
  CHECK(answer("cublas", missing) == "TAPER_TEST_CHOICE=cublas, but libcublas.so.13 was not found");
  CHECK(answer("cudnn", unopened) == "TAPER_TEST_CHOICE=cudnn is none of auto, own, cublas");
  CHECK(choice("cudnn", unopened).problem() == answer("cudnn", unopened));
  CHECK(choice("own", missing).problem() == missing());
  unsetenv("TAPER_TEST_CHOICE");
}
