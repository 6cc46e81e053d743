#pragma once

#include <string>
#include <vector>

namespace examples {

/// A row of history.csv: one epoch.
struct EpochRow {
  int64_t epoch;
  double train_loss, train_accuracy, test_loss, test_accuracy, seconds;
};

/// The history as an SVG picture: losses on the left, accuracies on the right.
std::string curves_svg(const std::vector<EpochRow>& rows, const std::string& title);

}  // namespace examples
