#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "catch.h"

// Programs that a test starts.

namespace support {

struct Outcome {
  std::string output;  ///< both streams
  int status;          ///< 0: success; as the shell has it
};

/// Runs a command of the shell.
inline Outcome run_command(const std::string& command) {
  std::FILE* const pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  REQUIRE(pipe);
  Outcome outcome;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    outcome.output.append(buffer, n);
  }
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

/// Runs one test of this program, usually a hidden one, in a process of its own.
/// `environment`: "NAME=value NAME=value".
inline Outcome run_test(const std::string& test, const std::string& environment) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  return run_command("env " + environment + " '" + program + "' '" + test + "'");
}

}  // namespace support
