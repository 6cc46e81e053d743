#include <filesystem>
#include <fstream>

#include "support.h"

// Replays the session with gdb that docs/emulator.md shows.

using Catch::Matchers::ContainsSubstring;

#if !defined(__SANITIZE_THREAD__)  // it starts itself anew, which gdb does not follow

namespace {

const std::string kTests = std::string(TAPER_GOLDEN_DIR) + "/../emulator";

}  // namespace

TEST_CASE("gdb steps through a kernel as the documentation shows") {
  std::ifstream page(kTests + "/../../docs/emulator.md");
  std::string commands;
  std::vector<std::string> answers;
  bool in_session = false;
  for (std::string line; std::getline(page, line);) {
    const std::string prompt = "    (gdb) ";
    if (line.starts_with(prompt)) {
      commands += " -ex '" + line.substr(prompt.size()) + "'";
      in_session = true;
    } else if (in_session && line.starts_with("    ")) {
      answers.push_back(line.substr(4));
    } else {
      in_session = false;
    }
  }
  REQUIRE(answers.size() >= 6);

  const std::string output = output_of_command(
      "gdb -q -nx -batch -d '" + kTests + "'" + commands + " --args '" +
      std::filesystem::read_symlink("/proc/self/exe").string() + "' 'running sum' 2>&1");
  if (output.find("Breakpoint 1 at") == std::string::npos ||
      output.find("Operation not permitted") != std::string::npos) {
    WARN("gdb is missing or may not trace here: " << output);
    return;
  }
  CAPTURE(output);
  size_t after = 0;
  for (const std::string& answer : answers) {
    CAPTURE(answer);
    after = output.find(answer, after);
    REQUIRE(after != std::string::npos);
  }
}

#endif
