#include "op_table/golden.h"

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace op_table {
namespace {

// "f32[2,3]@128": dtype, shape, where its values start.
Stored read_stored(const std::string& word, const std::vector<char>& data) {
  Stored stored;
  if (word == "-") return stored;
  const size_t at = word.find('@');
  const Recipe shape = Recipe::parse(word.substr(0, at) + ":real:0");
  stored.dtype = shape.dtype;
  stored.sizes = shape.sizes;
  const size_t offset = std::stoull(word.substr(at + 1));
  const auto n = static_cast<size_t>(support::count(shape.sizes));
  if (offset + n * taper::element_size(shape.dtype) > data.size()) {
    throw std::runtime_error("golden data: " + word + " lies beyond the file");
  }
  for (size_t i = 0; i < n; ++i) {
    stored.values.push_back(
        support::read(shape.dtype, data.data() + offset, static_cast<int64_t>(i)));
  }
  return stored;
}

Case read_case(const std::string& line, const std::vector<char>& data) {
  Case result;
  std::istringstream words(line);
  std::string word;
  words >> result.tag;
  while (words >> word && word != "->") {
    result.words += (result.words.empty() ? "" : " ") + word;
    result.inputs.push_back(Recipe::parse(word));
  }
  bool gradients = false;
  while (words >> word) {
    if (word == "error") {
      result.outcome = Case::Outcome::kError;
      std::getline(words >> std::ws, result.message);
    } else if (word == "unsupported") {
      result.outcome = Case::Outcome::kUnsupported;
    } else if (word.rfind("scale=", 0) == 0) {
      result.scale = std::stod(word.substr(6));
    } else if (word == "grad") {
      gradients = true;
    } else {
      (gradients ? result.gradients : result.outputs).push_back(read_stored(word, data));
    }
  }
  return result;
}

std::map<std::string, GoldenRow> read_file(const std::string& name) {
  const std::string base = std::string(TAPER_GOLDEN_DIR) + "/" + name;
  std::ifstream text(base + ".txt"), binary(base + ".bin", std::ios::binary);
  if (!text || !binary) {
    throw std::runtime_error("no golden data at " + base + ": run tests/golden/generate.py");
  }
  const std::vector<char> data{std::istreambuf_iterator<char>(binary), {}};
  std::map<std::string, GoldenRow> rows;
  GoldenRow* row = nullptr;
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.rfind("row ", 0) == 0) {
      const std::string mark = " elementwise";
      const bool elementwise = line.size() > mark.size() &&
                               line.compare(line.size() - mark.size(), mark.size(), mark) == 0;
      row = &rows[line.substr(4, line.size() - 4 - (elementwise ? mark.size() : 0))];
      row->elementwise = elementwise;
    } else {
      row->cases.push_back(read_case(line, data));
    }
  }
  return rows;
}

}  // namespace

const std::map<std::string, GoldenRow>& golden(const std::string& name) {
  static std::map<std::string, std::map<std::string, GoldenRow>> files;
  const auto found = files.find(name);
  return found != files.end() ? found->second : files.emplace(name, read_file(name)).first->second;
}

}  // namespace op_table
