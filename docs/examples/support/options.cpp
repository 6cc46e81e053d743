#include "options.h"

#include <taper/taper.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <iostream>

namespace examples {

namespace {

// An option that is right, but not on this machine.
struct Unavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

struct CommandLine::Parser {
  CLI::App app;

  // Options are taken as text and read here: the parser's own messages are for programmers.
  void add(const std::string& name, const std::string& kind, const std::string& shown,
           const std::string& help, const std::function<void(const std::string&)>& read) {
    CLI::Option* option = app.add_option_function<std::string>(name, read, help);
    option->type_name(kind);
    option->take_last();  // given twice, the last one counts
    if (!shown.empty()) option->default_str(shown);
  }
};

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& expected,
                         const std::string& text) {
  throw CLI::ValidationError(
      name, "expected " + expected + ", got " + (text.empty() ? "an empty text" : text));
}

// The whole text as a number of type T.
template <class T>
bool read_number(const std::string& text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

}  // namespace

CommandLine::CommandLine(const std::string& description) : parser_(new Parser) {
  parser_->app.description(description);
}
CommandLine::~CommandLine() = default;

void CommandLine::whole(const std::string& name, int64_t& value, int64_t least,
                        const std::string& help, int64_t most) {
  std::string expected = "a whole number of at least " + std::to_string(least);
  if (most < INT64_MAX) {
    expected = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  }
  parser_->add(name, "N", std::to_string(value), help, [=, &value](const std::string& text) {
    int64_t number = 0;
    if (!read_number(text, number)) {
      const bool is_large = text.size() > 18 && text.find_first_not_of("0123456789") == text.npos;
      refuse(name, is_large ? expected + " and at most " + std::to_string(most) : expected, text);
    }
    if (number < least || number > most) refuse(name, expected, text);
    value = number;
  });
}

void CommandLine::positive(const std::string& name, double& value, const std::string& help) {
  std::ostringstream shown;
  shown << value;
  parser_->add(name, "X", shown.str(), help, [=, &value](const std::string& text) {
    double number = 0;
    if (!read_number(text, number) || !std::isfinite(number) || number <= 0) {
      refuse(name, "a number above 0", text);
    }
    value = number;
  });
}

void CommandLine::text(const std::string& name, std::string& value, const std::string& help) {
  parser_->add(name, "TEXT", value, help, [=, &value](const std::string& text) {
    if (text.empty()) refuse(name, "a name", text);
    value = text;
  });
}

void CommandLine::choice(const std::string& name, std::string& value,
                         const std::vector<std::string>& words, const std::string& help) {
  std::string expected;
  for (const std::string& word : words) expected += (expected.empty() ? "" : " or ") + word;
  parser_->add(name, "WORD", value, help, [=, &value](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) == words.end()) refuse(name, expected, text);
    value = text;
  });
}

void CommandLine::device(const std::string& name, std::string& value) {
  if (value.empty()) value = taper::cuda::is_available() ? "cuda" : "cpu";
  parser_->add(name, "DEVICE", value, "cpu, cuda or cuda:N", [=, &value](const std::string& text) {
    std::optional<taper::Device> device;
    try {
      device = taper::Device(text);
    } catch (const taper::Error&) {
      refuse(name, "cpu, cuda or cuda:N", text);
    }
    if (device->is_cuda()) {
      const int count = taper::cuda::device_count();
      if (count == 0) {
        throw Unavailable(name + ": " + text +
                          " can't be used: " + taper::cuda::why_not_available());
      }
      if (device->index() >= count) {
        refuse(name, "a device below cuda:" + std::to_string(count), text);
      }
    }
    value = text;
  });
}

void CommandLine::flag(const std::string& name, bool& value, const std::string& help) {
  parser_->app.add_flag(name, value, help);
}

void CommandLine::threads(int64_t& value) {
  if (value == 0) value = taper::get_num_threads();
  whole("--threads", value, 1, "Threads for computing", 256);
}

void CommandLine::data(std::string& folder) {
  text("--data", folder,
       "Folder in MNIST's format, gzipped or not (default: Fashion-MNIST where the system has it, "
       "else the digits that come with Taper)");
}

void CommandLine::not_both(const std::string& a, const std::string& b) {
  parser_->app.get_option(a)->excludes(parser_->app.get_option(b));
}

bool CommandLine::given(const std::string& name) const {
  return parser_->app.get_option(name)->count() > 0;
}

int CommandLine::run(int argc, char** argv, const std::function<int()>& program) {
  try {
    parser_->app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parser_->app.exit(error) == 0 ? 0 : 2;
  } catch (const Unavailable& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 2;
  }
  try {
    return program();
  } catch (const std::exception& error) {
    std::cerr << "\nerror: " << error.what() << "\n";
    return 1;
  }
}

namespace {

// The emulator needs some thousand times a card's time.
void take_less(Options& options, const CommandLine& line) {
  std::string taken;
  const auto take = [&](const char* name, int64_t& value, int64_t least) {
    if (line.given(name)) return;
    value = least;
    taken += (taken.empty() ? "" : " ") + std::string(name) + " " + std::to_string(least);
  };
  take("--images", options.images, 2000);
  take("--batch", options.batch, 32);
  options.note = "the CUDA kernels run on this machine's processor: right, and slow" +
                 (taken.empty() ? "" : "; so " + taken + " unless you give others");
}

}  // namespace

int run_main(int argc, char** argv, const std::string& description,
             const std::function<int(const Options&)>& program) {
  Options options;
  CommandLine line(description);
  line.whole("--epochs", options.epochs, 1, "Epochs in all, those before --resume included");
  line.whole("--batch", options.batch, 1, "Samples per step");
  line.whole("--images", options.images, 0,
             "Train on the first N images, and test on a quarter as many; 0: on all");
  line.positive("--lr", options.lr, "Learning rate of Adam");
  line.whole("--seed", options.seed, 0, "Same seed, same numbers");
  line.threads(options.threads);
  line.whole("--workers", options.workers, 0, "Threads that load data; 0: none beside the main one",
             256);
  line.device("--device", options.device);
  line.data(options.data);
  line.text("--out", options.out, "Folder for the model, the history and the checkpoint");
  line.flag("--resume", options.resume, "Continue from the checkpoint in --out");
  line.flag("--dry-run", options.dry_run,
            "A few batches only, to see that everything works; writes to the folder dry-run in "
            "--out");
  line.not_both("--resume", "--dry-run");
  return line.run(argc, argv, [&] {
    options.lr_given = line.given("--lr");
    if (taper::Device(options.device).is_cuda() && taper::cuda::is_emulated()) {
      take_less(options, line);
    }
    return program(options);
  });
}

}  // namespace examples
