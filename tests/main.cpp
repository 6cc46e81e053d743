// The tests' main(), for Catch2 2 and 3.
#define CATCH_CONFIG_RUNNER
#include "catch.h"

#include <iostream>

#if __has_include(<catch2/reporters/catch_reporter_event_listener.hpp>)
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

namespace {

bool tests_ran = false, asserted = false;

struct Counter : Listener {
  using Listener::Listener;
  void testRunEnded(const Catch::TestRunStats& stats) override {
    tests_ran = true;
    asserted = stats.totals.assertions.total() > 0;
  }
};

}  // namespace

CATCH_REGISTER_LISTENER(Counter)

// A mistyped name of a test or a section would pass, since nothing in it fails.
int main(int argc, char** argv) {
  const int result = Catch::Session().run(argc, argv);
  if (result != 0 || !tests_ran || asserted) return result;
  std::cerr << "no assertion ran: is there a test, and a section, of that name?\n";
  return 2;
}
