#include "taper/core/error.h"

#include <limits>
#include <sstream>

#include "catch.h"
#include "taper/core/array_ref.h"
#include "taper/core/device.h"
#include "taper/core/options.h"
#include "taper/core/scalar.h"

using namespace taper;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a failed check throws its type with the parts as they were written") {
  const std::vector<int64_t> shape{2, 3};
  try {
    TAPER_CHECK_VALUE(false, "op: got ", 3, " and ", 0.1f, ", ", 0.1, ", ", true, ", shape ", shape,
                      ", ", kLong, ", ", Device("cuda:1"), ", ", Scalar(1.5), ", ", size_t{7});
    FAIL("did not throw");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) ==
          "op: got 3 and 0.1, 0.1, true, shape [2, 3], Long, cuda:1, 1.5, 7");
    CHECK(std::string(error.what_without_backtrace()) == error.msg());
    CHECK(dynamic_cast<const ValueError*>(&error) != nullptr);
  }
}

TEST_CASE("numbers in messages are short and exact") {
  const auto text = [](double value) {
    detail::MessageBuilder message;
    message << value;
    return message.take();
  };
  CHECK(text(123456789) == "123456789");
  CHECK(text(1e-3f) == "0.001");
  CHECK(text(1e300) == "1e+300");
  CHECK(text(-0.5) == "-0.5");
  CHECK(text(std::numeric_limits<double>::infinity()) == "inf");
}

TEST_CASE("copies of an error share its message") {
  const IndexError error("far out");
  const IndexError copy = error;
  CHECK(copy.what() == error.what());
}

TEST_CASE("device strings") {
  CHECK(Device("cpu") == Device(kCPU));
  CHECK(Device("cuda") == Device(kCUDA));
  CHECK(Device("cuda:1").index() == 1);
  CHECK(Device("cpu:0").str() == "cpu:0");
  CHECK(Device(kCUDA, 3).str() == "cuda:3");
  CHECK_FALSE(Device("cuda").has_index());
  CHECK_THROWS_WITH(Device("mps"),
                    ContainsSubstring("Expected one of cpu, cuda device type at start of device "
                                      "string: mps. Taper has these devices"));
  for (const char* text :
       {"cuda:", "cuda:x", "cuda:-1", "cuda:01", "cuda:1:2", "cuda:200", "cpu:1x"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(Device(text),
                      ContainsSubstring("Invalid device string: '" + std::string(text)));
  }
  CHECK_THROWS_AS(Device(""), Error);
  CHECK_THROWS_AS(Device("CPU"), Error);
  CHECK_THROWS_WITH(Device(kCPU, 1), "CPU device index must be -1 or zero, got 1");
  CHECK_THROWS_WITH(Device(kCUDA, -2), "Device index must be -1 or non-negative, got -2");
}

TEST_CASE("options print as LibTorch's") {
  std::ostringstream out;
  out << TensorOptions();
  CHECK(out.str() ==
        "TensorOptions(dtype=float (default), device=cpu (default), layout=Strided (default), "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))");
}
