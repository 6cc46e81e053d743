#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace examples {

struct Options {
  int64_t epochs = 2;
  int64_t batch = 256;
  double lr = 1e-3;
  uint64_t seed = 0;
  int threads = 0;
  int64_t workers = 2;
  std::string device = "cpu";
  std::string data;
  std::string out = "runs/latest";
  bool resume = false;
  bool dry_run = false;
};

/// Parses the command line, calls `program`, and turns errors into one line on the error stream and
/// exit status 1 (2 for a wrong command line).
int run_main(int argc, char** argv, const std::string& description,
             const std::function<int(const Options&)>& program);

}  // namespace examples
