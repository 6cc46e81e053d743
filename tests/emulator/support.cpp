#include "support.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

std::string place_of(const char* file, const std::string& name) {
  const std::string name_of_file = std::filesystem::path(file).filename().string();
  std::ifstream in(std::string(TAPER_GOLDEN_DIR) + "/../emulator/" + name_of_file);
  const std::string mark = "FAULT: " + name;
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    if (text.size() >= mark.size() && text.ends_with(mark)) {
      return name_of_file + ":" + std::to_string(line);
    }
  }
  FAIL("no line of " << file << " ends in \"" << mark << '"');
  return {};
}

std::string output_of_command(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::string output;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) output.append(buffer, n);
  pclose(pipe);
  return output;
}

std::string output_of(const std::string& test, const std::string& settings) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  return output_of_command("TAPER_EMULATOR='" + settings + "' '" + program + "' '" + test +
                           "' 2>&1");
}
