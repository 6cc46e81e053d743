#include "support.h"

#include <filesystem>
#include <fstream>

#include "support/process.h"

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
  return support::run_command(command).output;
}

std::string output_of(const std::string& test, const std::string& settings) {
  return support::run_test(test, "TAPER_EMULATOR='" + settings + "'").output;
}
