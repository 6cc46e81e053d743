#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <limits>
#include <vector>

#include "taper/core/tensor.h"

// Printing as LibTorch prints in C++: columns of equal width, a common factor in front where values
// are large, one matrix after the other above two dimensions, and the type and shape in the last
// line.

namespace taper {

namespace {

template <class T>
double read_as(const void* data, int64_t i) {
  return static_cast<double>(static_cast<const T*>(data)[i]);
}

using Reader = double (*)(const void*, int64_t);

Reader reader_of(ScalarType dtype) {
  switch (dtype) {
#define TAPER_READER(type, name, python) \
  case ScalarType::name:                 \
    return &read_as<type>;
    TAPER_FORALL_DTYPES(TAPER_READER)
#undef TAPER_READER
    case ScalarType::Undefined:
      break;
  }
  return nullptr;
}

// The part that is formatted together: a matrix, or a vector as one column. Values are read in
// place, through the strides: printing records nothing and copies nothing.
struct Matrix {
  const void* data;
  Reader read;
  int64_t offset, rows, columns, row_stride, column_stride;

  double at(int64_t row, int64_t column) const {
    return read(data, offset + row * row_stride + column * column_stride);
  }
};

struct Format {
  enum class Style { kDefault, kFixed, kScientific };
  double scale = 1;
  int width = 0;
  Style style = Style::kDefault;
};

// Digits before the decimal point of a finite value; 1 for 0.
int digits_of(double value) {
  return value == 0 ? 1 : static_cast<int>(std::floor(std::log10(value))) + 1;
}

// From the range of the finite values, and from whether all of them are whole.
Format choose_format(const Matrix& matrix) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  bool whole = true;
  double smallest = kInfinity, largest = -kInfinity;
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t column = 0; column < matrix.columns; ++column) {
      const double value = matrix.at(row, column);
      if (!std::isfinite(value)) continue;
      whole = whole && value == std::ceil(value);
      smallest = std::min(smallest, std::abs(value));
      largest = std::max(largest, std::abs(value));
    }
  }
  const bool any = smallest <= largest;
  const int low = any ? digits_of(smallest) : 1, high = any ? digits_of(largest) : 1;
  if (whole) {
    if (high > 9) return {1, 11, Format::Style::kScientific};
    return {1, high + 1, Format::Style::kDefault};
  }
  if (high - low > 4) {
    const bool three_digits = std::abs(high) > 99 || std::abs(low) > 99;
    return {1, three_digits ? 12 : 11, Format::Style::kScientific};
  }
  if (high > 5 || high < 0) return {std::pow(10.0, high - 1), 7, Format::Style::kFixed};
  return {1, high == 0 ? 7 : high + 6, Format::Style::kFixed};
}

// Printing starts from default settings; the stream's own come back when it is done.
class DefaultSettings {
 public:
  explicit DefaultSettings(std::ostream& out) : out_(out), saved_(nullptr) {
    saved_.copyfmt(out);
    out.copyfmt(std::ios(nullptr));
  }
  ~DefaultSettings() { out_.copyfmt(saved_); }
  DefaultSettings(const DefaultSettings&) = delete;
  DefaultSettings& operator=(const DefaultSettings&) = delete;

 private:
  std::ostream& out_;
  std::ios saved_;
};

// The shortest digits that read back as the same value, plain where the exponent is in [-4, 16).
void print_number(std::ostream& out, double value) {
  char digits[64];
  const double magnitude = std::abs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  char* const end = std::to_chars(digits, digits + sizeof digits, value, format).ptr;
  out.write(digits, end - digits);
}

void print_indent(std::ostream& out, int indent) {
  for (int i = 0; i < indent; ++i) out << ' ';
}

void print_scale(std::ostream& out, const Format& format) {
  if (format.scale == 1) return;
  print_number(out, format.scale);
  out << " *\n";
}

void print_value(std::ostream& out, const Format& format, double value) {
  switch (format.style) {
    case Format::Style::kDefault:
      out << std::defaultfloat << std::setprecision(6);
      break;
    case Format::Style::kFixed:
      out << std::fixed << std::setprecision(4);
      break;
    case Format::Style::kScientific:
      out << std::scientific << std::setprecision(4);
      break;
  }
  out << std::setw(format.width) << value / format.scale;
}

void print_vector(std::ostream& out, const Matrix& vector) {
  const Format format = choose_format(vector);
  print_scale(out, format);
  for (int64_t row = 0; row < vector.rows; ++row) {
    print_value(out, format, vector.at(row, 0));
    out << '\n';
  }
}

// As many columns at a time as the line has room for.
void print_matrix(std::ostream& out, const Matrix& matrix, int64_t line_width, int indent) {
  const Format format = choose_format(matrix);
  const int64_t per_line = std::max<int64_t>((line_width - indent) / (format.width + 1), 1);
  for (int64_t first = 0; first < matrix.columns; first += per_line) {
    const int64_t last = std::min(first + per_line, matrix.columns) - 1;
    if (per_line < matrix.columns) {
      if (first != 0) out << '\n';
      out << "Columns " << first + 1 << " to " << last + 1;
      print_indent(out, indent);
    }
    if (format.scale != 1) {
      print_scale(out, format);
      print_indent(out, indent);
    }
    for (int64_t row = 0; row < matrix.rows; ++row) {
      for (int64_t column = first; column <= last; ++column) {
        print_value(out, format, matrix.at(row, column));
        out << (column == last ? '\n' : ' ');
      }
      if (row == matrix.rows - 1) break;
      print_indent(out, format.scale != 1 ? indent + 1 : indent);
    }
  }
}

// Every matrix of the last two dimensions under its position in the others, the first of which runs
// fastest.
void print_matrices(std::ostream& out, const Tensor& tensor, const Matrix& first,
                    int64_t line_width) {
  const size_t outer = static_cast<size_t>(tensor.dim()) - 2;
  std::vector<int64_t> index(outer, 0);
  for (bool started = false;; started = true) {
    if (started) out << '\n';
    Matrix matrix = first;
    out << '(';
    for (size_t d = 0; d < outer; ++d) {
      matrix.offset += index[d] * tensor.strides()[d];
      out << index[d] + 1 << ',';
    }
    out << ".,.) = \n";
    print_matrix(out, matrix, line_width, 1);
    size_t d = 0;
    while (d < outer && ++index[d] == tensor.sizes()[d]) index[d++] = 0;
    if (d == outer) return;
  }
}

}  // namespace

std::ostream& print(std::ostream& out, const Tensor& given, int64_t line_width) {
  const DefaultSettings settings(out);
  if (!given.defined()) return out << "[ Tensor (undefined) ]";
  const Tensor tensor = given.is_cpu() ? given : given.cpu();
  const int64_t rank = tensor.dim();
  Matrix matrix{tensor.data_ptr(), reader_of(tensor.scalar_type()), 0, 1, 1, 0, 0};
  if (rank == 1) {
    matrix.rows = tensor.sizes()[0];
    matrix.row_stride = tensor.strides()[0];
  } else if (rank >= 2) {
    matrix.rows = tensor.sizes()[rank - 2];
    matrix.columns = tensor.sizes()[rank - 1];
    matrix.row_stride = tensor.strides()[rank - 2];
    matrix.column_stride = tensor.strides()[rank - 1];
  }
  if (rank == 0) {
    print_number(out, matrix.at(0, 0));
    out << '\n';
  } else if (tensor.numel() > 0) {
    if (rank == 1) print_vector(out, matrix);
    if (rank == 2) print_matrix(out, matrix, line_width, 0);
    if (rank > 2) print_matrices(out, tensor, matrix, line_width);
  }
  out << "[ " << given.toString() << '{';
  for (int64_t d = 0; d < rank; ++d) out << (d ? "," : "") << tensor.sizes()[d];
  return out << "} ]";
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return print(out, tensor, 80); }

void Tensor::print() const {
  if (defined()) {
    std::cerr << "[" << toString() << " " << sizes() << "]\n";
  } else {
    std::cerr << "[UndefinedTensor]\n";
  }
}

}  // namespace taper
