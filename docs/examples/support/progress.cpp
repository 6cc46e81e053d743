#include "progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace examples {

namespace {

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld", static_cast<long long>(whole / 60),
                static_cast<long long>(whole % 60));
  return text;
}

}  // namespace

double printable(double value) { return std::isnan(value) ? std::fabs(value) : value; }

Progress::Progress()
    : terminal_(isatty(STDOUT_FILENO) != 0), colour_(terminal_ && !std::getenv("NO_COLOR")) {}
Progress::~Progress() { clear(); }

void Progress::begin(std::string title, int64_t total) {
  title_ = std::move(title);
  total_ = total;
  first_ = -1;
  start_ = Clock::now();
  drawn_ = {};
}

void Progress::update(int64_t done, double loss) {
  if (!terminal_) return;
  const auto now = Clock::now();
  if (first_ < 0) first_ = done;  // after --resume, the rate counts from here
  if (done < total_ && now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(done - first_) / seconds : 0;
  char tail[96];
  std::snprintf(tail, sizeof tail, " %3d%%  %6.0f samples/s  loss %.4f  %s left",
                static_cast<int>(100 * done / std::max<int64_t>(total_, 1)), rate, printable(loss),
                rate > 0 ? duration(static_cast<double>(total_ - done) / rate).c_str() : "-:--");
  const std::string text = tail;
  const int room =
      std::max(0, terminal_width() - 1 - static_cast<int>(title_.size() + text.size()) - 2);
  const int width = std::min(room, 30);
  const int filled = static_cast<int>(width * done / std::max<int64_t>(total_, 1));
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < filled ? "█" : "░";
  std::cout << '\r' << title_ << ' ' << (colour_ ? "\033[36m" : "") << bar
            << (colour_ ? "\033[0m" : "") << text << "\033[K" << std::flush;
  shown_ = true;
}

void Progress::clear() {
  if (shown_) std::cout << "\r\033[K" << std::flush;
  shown_ = false;
}

void Progress::line(const std::string& text) {
  clear();
  std::cout << text << std::endl;
}

std::string Progress::bold(const std::string& text) const {
  return colour_ ? "\033[1m" + text + "\033[0m" : text;
}

}  // namespace examples
