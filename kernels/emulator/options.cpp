#include "taper/kernels/emulator/options.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "taper/kernels/emulator/memory.h"

namespace taper::emulator {

namespace {

struct Setting {
  std::string_view name, allowed;
  void (*read)(Options& options, std::string_view value);  // throws std::invalid_argument
};

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

uint64_t number(std::string_view text, uint64_t least, uint64_t most) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw std::invalid_argument("not a number in range");
  }
  return value;
}

size_t bytes(std::string_view text, size_t least) {
  int shift = 0;
  if (!text.empty()) {
    const size_t unit = std::string_view("KMG").find(text.back());
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      text.remove_suffix(1);
    }
  }
  const size_t value = number(text, 0, SIZE_MAX >> shift) << shift;
  if (value < least) throw std::invalid_argument("too little");
  return value;
}

// Appended to: the program may write there itself, and start others that do.
std::shared_ptr<std::FILE> opened(std::string_view path) {
  std::FILE* const file = std::fopen(std::string(path).c_str(), "ae");
  if (!file) throw std::invalid_argument("cannot be written");
  std::setvbuf(file, nullptr, _IOLBF, 0);
  return {file, &std::fclose};
}

bool on_off(std::string_view text) {
  if (text == "on") return true;
  if (text == "off") return false;
  throw std::invalid_argument("neither on nor off");
}

Failure failure(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos) throw std::invalid_argument("no number");
  const auto begins_with = [&](std::string_view word) {
    return text.substr(0, word.size()) == word;
  };
  if (text.substr(0, colon) != "device" && !begins_with("cuda") && !begins_with("cublas") &&
      !begins_with("cudnn")) {
    throw std::invalid_argument("no such call");
  }
  std::string_view rest = text.substr(colon + 1);
  int status = 0;
  if (const size_t second = rest.find(':'); second != std::string_view::npos) {
    status = static_cast<int>(number(rest.substr(second + 1), 1, 9999));
    rest = rest.substr(0, second);
  }
  return {counted_name(std::string(text.substr(0, colon))),
          static_cast<int64_t>(number(rest, 1, INT64_MAX)), status};
}

const Setting kSettings[] = {
    {"devices", "1 to 16",
     [](Options& o, std::string_view v) { o.devices = static_cast<int>(number(v, 1, 16)); }},
    {"memory", "bytes, or with K, M or G; at least 1M",
     [](Options& o, std::string_view v) { o.memory = bytes(v, 1 << 20); }},
    {"capability", "70 to 120",
     [](Options& o, std::string_view v) { o.capability = static_cast<int>(number(v, 70, 120)); }},
    {"multiprocessors", "1 to 1024",
     [](Options& o, std::string_view v) {
       o.multiprocessors = static_cast<int>(number(v, 1, 1024));
     }},
    {"seed", "a number; 0 for everything in order",
     [](Options& o, std::string_view v) {
       o.seed = number(v, 0, UINT64_MAX);
       o.deferred = o.seed != 0;
     }},
    {"streams", "eager or deferred",
     [](Options& o, std::string_view v) {
       if (v != "eager" && v != "deferred") throw std::invalid_argument("neither");
       o.deferred = v == "deferred";
     }},
    {"threads", "1 to 64",
     [](Options& o, std::string_view v) { o.threads = static_cast<int>(number(v, 1, 64)); }},
    {"stack", "bytes, or with K or M; at least 16K",
     [](Options& o, std::string_view v) { o.stack = bytes(v, 16 << 10); }},
    {"fill", "on or off", [](Options& o, std::string_view v) { o.fill = on_off(v); }},
    {"uninitialized", "on or off",
     [](Options& o, std::string_view v) { o.uninitialized = on_off(v); }},
    {"kernels", "on or off", [](Options& o, std::string_view v) { o.kernels = on_off(v); }},
    {"trace", "a file that can be written to",
     [](Options& o, std::string_view v) { o.trace = opened(v); }},
    {"peers", "on or off", [](Options& o, std::string_view v) { o.peers = on_off(v); }},
    {"libraries", "on or off", [](Options& o, std::string_view v) { o.libraries = on_off(v); }},
    {"leaks", "on or off", [](Options& o, std::string_view v) { o.leaks = on_off(v); }},
    {"protect", "auto, key, pages or off",
     [](Options& o, std::string_view v) {
       constexpr std::string_view kNames[] = {"auto", "key", "pages", "off"};
       const auto* const found = std::find(std::begin(kNames), std::end(kNames), v);
       if (found == std::end(kNames)) throw std::invalid_argument("none of them");
       o.protect = static_cast<Protection>(found - std::begin(kNames));
     }},
    {"fail", "CALL:N or CALL:N:STATUS, such as cudaMalloc:3; device:N",
     [](Options& o, std::string_view v) { o.fail.push_back(failure(v)); }},
};

std::string names() {
  std::string text;
  for (const Setting& setting : kSettings) {
    text += (text.empty() ? "" : ", ") + std::string(setting.name);
  }
  return text;
}

}  // namespace

std::string counted_name(std::string call) {
  constexpr std::string_view kVersion = "_v2";
  const bool has_version = call.size() > kVersion.size() &&
                           std::string_view(call).substr(call.size() - kVersion.size()) == kVersion;
  if (has_version) call.resize(call.size() - kVersion.size());
  return call;
}

Options parse_options(const std::string& text) {
  Options options;
  options.threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 2u));
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view item = trimmed(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (item.empty()) continue;
    const size_t equals = item.find('=');
    const std::string_view name = item.substr(0, std::min(equals, item.size()));
    const auto* const setting =
        std::find_if(std::begin(kSettings), std::end(kSettings),
                     [&](const Setting& candidate) { return candidate.name == name; });
    if (setting == std::end(kSettings)) {
      throw std::invalid_argument("TAPER_EMULATOR: there is no setting \"" + std::string(name) +
                                  "\". There are: " + names());
    }
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1);
    try {
      setting->read(options, value);
    } catch (const std::invalid_argument&) {
      throw std::invalid_argument("TAPER_EMULATOR: " + std::string(name) + " cannot be \"" +
                                  std::string(value) +
                                  "\"; allowed: " + std::string(setting->allowed));
    }
  }
  if (options.protect == Protection::kKey && !has_protection_keys()) {
    throw std::invalid_argument(
        "TAPER_EMULATOR: protect=key needs protection keys, which this processor or its system "
        "does not have; protect=pages works everywhere");
  }
  return options;
}

}  // namespace taper::emulator
