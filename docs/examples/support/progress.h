#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace examples {

/// The number to print: a NaN without its sign, which means nothing.
double printable(double value);

/// A live progress bar on a terminal: rate, loss, time left. Piped, or without a terminal, it is
/// silent and only `finish_line` prints. Colours unless NO_COLOR is set.
class Progress {
 public:
  Progress();
  ~Progress();

  void begin(std::string title, int64_t total);
  /// `done` of the total so far; redraws ten times a second at most.
  void update(int64_t done, double loss);
  /// Clears the bar and prints a plain line.
  void line(const std::string& text);
  /// Marks what matters in a line, on a terminal.
  std::string bold(const std::string& text) const;

 private:
  using Clock = std::chrono::steady_clock;
  void clear();

  bool terminal_, colour_;
  std::string title_;
  int64_t total_ = 0, first_ = -1;
  Clock::time_point start_, drawn_;
  bool shown_ = false;
};

}  // namespace examples
