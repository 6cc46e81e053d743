#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace examples {

/// The command line of an example program. Each call names an option and the variable that it
/// sets, whose value is the default; `run` then parses. The one place that knows the parser.
class CommandLine {
 public:
  explicit CommandLine(const std::string& description);
  ~CommandLine();

  /// A whole number from `least` to `most`.
  void whole(const std::string& name, int64_t& value, int64_t least, const std::string& help,
             int64_t most = INT64_MAX);
  /// A finite number above zero.
  void positive(const std::string& name, double& value, const std::string& help);
  /// Any text but the empty one, which only the default may be.
  void text(const std::string& name, std::string& value, const std::string& help);
  /// One of the words.
  void choice(const std::string& name, std::string& value, const std::vector<std::string>& words,
              const std::string& help);
  /// A device that this machine has; by default `value`, and where that is empty, CUDA if there is
  /// such a device.
  void device(const std::string& name, std::string& value);
  void flag(const std::string& name, bool& value, const std::string& help);
  /// The number of threads, from 1 on; by default what Taper would take.
  void threads(int64_t& value);
  /// Where the images are.
  void data(std::string& folder);
  /// The two exclude each other.
  void not_both(const std::string& a, const std::string& b);

  /// Was the option on the command line? After parsing.
  bool given(const std::string& name) const;
  /// Parses, calls `program` and gives the exit status: the program's, 2 for a wrong command line,
  /// 1 when it throws. Errors become one line on the error stream.
  int run(int argc, char** argv, const std::function<int()>& program);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// Those of train_cnn.
struct Options {
  int64_t epochs = 2;
  int64_t batch = 256;
  int64_t images = 0;
  double lr = 1e-3;
  bool lr_given = false;
  int64_t seed = 0;
  int64_t threads = 0;
  int64_t workers = 2;
  std::string device;
  std::string data;
  std::string out = "runs/latest";
  bool resume = false;
  bool dry_run = false;
  std::string note;  // what the emulator takes instead of the usual; empty elsewhere

  int64_t test_images() const { return (images + 3) / 4; }
};

/// Parses train_cnn's command line and runs `program`.
int run_main(int argc, char** argv, const std::string& description,
             const std::function<int(const Options&)>& program);

}  // namespace examples
