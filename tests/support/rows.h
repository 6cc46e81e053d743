#pragma once

#include <limits>
#include <string>
#include <vector>

#include "catch.h"
#include "support/tensors.h"
#include "taper/autograd/autograd.h"

// Rows of "this call gives that", for tests that are lists of facts.

namespace support {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

struct ValueRow {
  const char* call;
  Tensor (*run)();
  std::vector<double> expected;
  double tolerance = 1e-6;
};
struct SizeRow {
  const char* call;
  Tensor (*run)();
  Sizes expected;
};
struct TypeRow {
  const char* call;
  Tensor (*run)();
  ScalarType expected;
};
struct ErrorRow {
  const char* call;
  void (*run)();
  const char* words;
};

inline void check_rows(const std::vector<ValueRow>& rows) {
  for (const ValueRow& row : rows) {
    INFO(row.call);
    Tensor got;
    const std::string error = error_of([&] { got = row.run(); });
    INFO("throws: " << error);
    REQUIRE(error.empty());
    INFO("gives " << text(got) << ", expected " << text(row.expected));
    CHECK(near(got, row.expected, row.tolerance));
  }
}

inline void check_rows(const std::vector<SizeRow>& rows) {
  for (const SizeRow& row : rows) {
    INFO(row.call);
    const Sizes got = row.run().sizes().vec();
    INFO("has shape " << text(got) << ", expected " << text(row.expected));
    CHECK(got == row.expected);
  }
}

inline void check_rows(const std::vector<TypeRow>& rows) {
  for (const TypeRow& row : rows) {
    const ScalarType got = row.run().scalar_type();
    INFO(row.call << " is " << taper::dtype_name(got) << ", expected "
                  << taper::dtype_name(row.expected));
    CHECK(got == row.expected);
  }
}

inline void check_rows(const std::vector<ErrorRow>& rows) {
  for (const ErrorRow& row : rows) {
    const std::string message = error_of(row.run);
    INFO(row.call << " throws: " << message);
    CHECK_FALSE(message.empty());
    CHECK(says(message, row.words));
  }
}

/// The gradient of sum(f(x)) at x.
template <class F>
Tensor gradient(F f, const Tensor& x) {
  Tensor leaf = x.detach().clone();
  leaf.requires_grad_(true);
  f(leaf).sum().backward();
  return leaf.grad();
}

}  // namespace support

/// GIVES(max(tensor({1., 3.})), {3}): the call's values, with a tolerance if need be.
#define GIVES(call, ...)                                     \
  ::support::ValueRow {                                      \
    #call, [] { return ::taper::Tensor(call); }, __VA_ARGS__ \
  }
#define HAS_SHAPE(call, ...)                                 \
  ::support::SizeRow {                                       \
    #call, [] { return ::taper::Tensor(call); }, __VA_ARGS__ \
  }
#define HAS_DTYPE(call, dtype)                         \
  ::support::TypeRow {                                 \
    #call, [] { return ::taper::Tensor(call); }, dtype \
  }
/// The statement throws an Error that contains the words.
#define THROWS(statement, words)                 \
  ::support::ErrorRow {                          \
    #statement, [] { (void)(statement); }, words \
  }
/// Gradient of sum(expression in x) at a point: GRADIENT(x * x, tensor({1., 2.})).
#define GRADIENT(expression, point) \
  ::support::gradient([](const ::taper::Tensor& x) { return ::taper::Tensor(expression); }, point)
