#include "curves.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

namespace examples {

namespace {

constexpr int kWidth = 760, kHeight = 300, kPanel = 300, kPlotHeight = 190, kTop = 60;

std::string number(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string text_at(double x, double y, const std::string& text, const char* anchor,
                    const char* extra = "") {
  return "<text x=\"" + number(x, 1) + "\" y=\"" + number(y, 1) + "\" text-anchor=\"" + anchor +
         "\" " + extra + ">" + text + "</text>\n";
}

struct Series {
  const char* name;
  const char* colour;
  std::function<double(const EpochRow&)> value;
};

// A step of 1, 2 or 5 times a power of ten that divides the range in about four.
double tick_step(double range) {
  const double rough = range / 4, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (rough <= factor * power) return factor * power;
  }
  return 10 * power;
}

std::string panel(const std::vector<EpochRow>& rows, double left, const std::string& title,
                  const std::vector<Series>& series, double scale, const char* unit) {
  double low = 1e300, high = -1e300;
  for (const EpochRow& row : rows) {
    for (const Series& s : series) {
      const double value = s.value(row) * scale;
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low > high) low = 0, high = 1;
  if (high - low < 1e-6) high += 0.5, low -= 0.5;
  const double step = tick_step(high - low);
  low = std::floor(low / step) * step;
  high = std::ceil(high / step) * step;
  const int digits = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  const auto y_of = [&](double v) { return kTop + kPlotHeight * (1 - (v - low) / (high - low)); };
  const double last = static_cast<double>(std::max<size_t>(rows.size(), 2) - 1);
  const auto x_of = [&](size_t i) {
    return left + kPanel * (rows.size() < 2 ? 0.5 : static_cast<double>(i) / last);
  };

  std::string out = text_at(left, kTop - 14, title, "start", "font-weight=\"bold\"");
  for (double v = low; v <= high + step / 2; v += step) {
    out += "<line x1=\"" + number(left, 1) + "\" x2=\"" + number(left + kPanel, 1) + "\" y1=\"" +
           number(y_of(v), 1) + "\" y2=\"" + number(y_of(v), 1) + "\" stroke=\"#ddd\"/>\n";
    out += text_at(left - 6, y_of(v) + 4, number(v, digits) + unit, "end", "fill=\"#666\"");
  }
  const size_t every = std::max<size_t>(1, rows.size() / 10);
  for (size_t i = 0; i < rows.size(); i += every) {
    out += text_at(x_of(i), kTop + kPlotHeight + 18, std::to_string(rows[i].epoch), "middle",
                   "fill=\"#666\"");
  }
  out += text_at(left + kPanel / 2.0, kTop + kPlotHeight + 36, "epoch", "middle", "fill=\"#666\"");
  double legend = left + kPanel;
  for (size_t k = series.size(); k-- > 0;) {
    const Series& s = series[k];
    std::string points;
    for (size_t i = 0; i < rows.size(); ++i) {
      const double value = s.value(rows[i]) * scale;
      if (!std::isfinite(value)) continue;
      points += number(x_of(i), 1) + "," + number(y_of(value), 1) + " ";
      out += "<circle cx=\"" + number(x_of(i), 1) + "\" cy=\"" + number(y_of(value), 1) +
             "\" r=\"3\" fill=\"" + s.colour + "\"/>\n";
    }
    out += std::string("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"") + s.colour +
           "\" points=\"" + points + "\"/>\n";
    out += text_at(legend, kTop - 14, s.name, "end",
                   (std::string("fill=\"") + s.colour + "\"").c_str());
    legend -= 60;
  }
  return out;
}

}  // namespace

std::string curves_svg(const std::vector<EpochRow>& rows, const std::string& title) {
  const char *train = "#1f77b4", *test = "#d62728";
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(kWidth) +
      "\" height=\"" + std::to_string(kHeight) + "\" viewBox=\"0 0 " + std::to_string(kWidth) +
      " " + std::to_string(kHeight) +
      "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n";
  out += text_at(kWidth / 2.0, 22, title, "middle", "font-size=\"15\"");
  out += panel(rows, 60, "Loss",
               {{"train", train, [](const EpochRow& r) { return r.train_loss; }},
                {"test", test, [](const EpochRow& r) { return r.test_loss; }}},
               1, "");
  out += panel(rows, 440, "Accuracy",
               {{"train", train, [](const EpochRow& r) { return r.train_accuracy; }},
                {"test", test, [](const EpochRow& r) { return r.test_accuracy; }}},
               100, " %");
  return out + "</svg>\n";
}

}  // namespace examples
