// The tests' main(), for Catch2 2 and 3.
#define CATCH_CONFIG_RUNNER
#include "catch.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>

#if __has_include(<catch2/reporters/catch_reporter_event_listener.hpp>)
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

/// In programs whose tests run on every device (support/device.cpp).
[[gnu::weak]] void choose_device();

namespace {

bool tests_ran = false, asserted = false;

struct Counter : Listener {
  using Listener::Listener;
  void testRunEnded(const Catch::TestRunStats& stats) override {
    tests_ran = true;
    asserted = stats.totals.assertions.total() > 0;
  }
};

/// --device NAME, as the examples have it: TAPER_TEST_DEVICE. Takes it out of the arguments.
bool take_device(int& argc, char** argv) {
  char** const end = argv + argc;
  char** const option = std::find_if(
      argv + 1, end, [](const char* argument) { return !std::strcmp(argument, "--device"); });
  if (option == end) return true;
  if (option + 1 == end) {
    std::cerr << "--device: expected a device, such as cpu, cuda or cuda:1\n";
    return false;
  }
  if (!choose_device) {
    std::cerr << "--device: these tests are not about tensors on a device of one's choice\n";
    return false;
  }
  setenv("TAPER_TEST_DEVICE", option[1], 1);
  *std::copy(option + 2, end, option) = nullptr;
  argc -= 2;
  return true;
}

}  // namespace

CATCH_REGISTER_LISTENER(Counter)

// A mistyped name of a test or a section would pass, since nothing in it fails.
int main(int argc, char** argv) {
  if (!take_device(argc, argv)) return 2;
  try {
    if (choose_device) choose_device();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
  const int result = Catch::Session().run(argc, argv);
  if (result != 0 || !tests_ran || asserted) return result;
  std::cerr << "no assertion ran: is there a test, and a section, of that name?\n";
  return 2;
}
