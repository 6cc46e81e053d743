#pragma once

#include <array>
#include <functional>
#include <vector>

#include "catch.h"
#include "op_table/golden.h"

// One row per call of an op; everything else follows from it. The call stands in the row once, is
// C++ here and, read by tests/golden/generate.py, Python there:
//
//   ROW(silu, (a), "any", twice)
//   ROW(conv2d, (a, b, c, {2, 2}, {1, 1}), "2,3,7,7 4,3,3,3 4", twice)
//   METHOD(view, ({6, -1}), "2,3,4", twice)
//
// a, b, c, ... are the inputs. The text says what they are (tests/golden/cases.py), then how often
// the op is differentiable. A row checks values, dtypes, layouts, in-place and out forms, gradients
// and errors; see driver.cpp.

namespace op_table {

using namespace taper;

constexpr size_t kMaxInputs = 7;
using Inputs = std::array<Tensor, kMaxInputs>;
using Outputs = std::vector<Tensor>;

/// How often an op is differentiable. `defined`: its gradient is PyTorch's by definition, not the
/// derivative.
enum Gradients { none, defined, once, twice };

/// What a row may ask for beyond the rule, with the reason.
struct Options {
  double looser = 1;           ///< factor on the tolerance for float32
  double looser_half = 1;      ///< the same for float16 and bfloat16
  double looser_double = 1;    ///< the same for float64
  bool layouts = true;         ///< false: the op's result or success depends on the strides
  bool floating_only = false;  ///< integers are refused, though PyTorch takes them
  bool free_integers = false;  ///< integers may work or not: PyTorch's answer follows no rule
  bool apart_on_cuda = false;  ///< on CUDA halves are rounded before the bias is added as well
  const char* reason = "";
};

inline Options loose(double factor, const char* reason) {
  return {.looser = factor, .looser_half = factor, .looser_double = factor, .reason = reason};
}
inline Options loose_half(double factor, const char* reason) {
  return {.looser_half = factor, .reason = reason};
}
inline Options contiguous_only(const char* reason) { return {.layouts = false, .reason = reason}; }
inline Options free_integers(const char* reason) {
  return {.free_integers = true, .reason = reason};
}
inline Options floating_only(const char* reason) {
  return {.floating_only = true, .reason = reason};
}
inline Options loose_double(double factor, const char* reason) {
  return {.looser_double = factor, .reason = reason};
}

struct Row {
  const char* op;
  const char* call;
  const char* inputs;
  Gradients gradients;
  Outputs (*run)(const Inputs&);
  bool (*run_inplace)(Inputs&);             ///< changes input 0; false: there is no such form
  bool (*run_out)(Tensor&, const Inputs&);  ///< false: there is no such form
  Options options;
};

/// A call that must throw an Error whose message contains `words`.
struct Wrong {
  const char* call;
  void (*run)();
  const char* words;
  bool only_cpu = false;
};

struct Table {
  Table(const char* name, std::vector<Row> rows, std::vector<Wrong> wrong = {});
  /// A section for each row.
  void run() const;

  const char* name;
  std::vector<Row> rows;
  std::vector<Wrong> wrong;
};
const std::vector<const Table*>& all_tables();

namespace detail {

inline Outputs results(Tensor tensor) { return {std::move(tensor)}; }
inline Outputs results(const TensorPair& pair) { return {std::get<0>(pair), std::get<1>(pair)}; }
inline Outputs results(const TensorTriple& triple) {
  return {std::get<0>(triple), std::get<1>(triple), std::get<2>(triple)};
}
inline Outputs results(std::vector<Tensor> tensors) { return tensors; }
inline Outputs results(bool value) { return {support::make({value ? 1. : 0.}, {}, kBool)}; }

template <class Run, class InPlace, class Out>
Row make_row(const char* op, const char* call, const char* inputs, Gradients gradients, Run,
             InPlace, Out, Options options = {}) {
  return {op,
          call,
          inputs,
          gradients,
          [](const Inputs& t) { return Run{}(t[0], t[1], t[2], t[3], t[4], t[5], t[6]); },
          [](Inputs& t) { return InPlace{}(t[0], t[1], t[2], t[3], t[4], t[5], t[6]); },
          [](Tensor& out, const Inputs& t) {
            return Out{}(out, t[0], t[1], t[2], t[3], t[4], t[5], t[6]);
          },
          options};
}

}  // namespace detail
}  // namespace op_table

#define OP_TABLE_STRIP(...) __VA_ARGS__
#define OP_TABLE_INPUTS(first, type)                                                  \
  first a, [[maybe_unused]] type b, [[maybe_unused]] type c, [[maybe_unused]] type d, \
      [[maybe_unused]] type e, [[maybe_unused]] type f, [[maybe_unused]] type g

// The generic lambdas make "is there an op_ / op_out that takes this?" a question at compile time.
#define OP_TABLE_MAYBE(call)          \
  if constexpr (requires { call; }) { \
    call;                             \
    return true;                      \
  } else {                            \
    return false;                     \
  }
#define OP_TABLE_ROW(op, text, inputs, gradients, call, in_place, out_form, ...)                   \
  ::op_table::detail::make_row(                                                                    \
      #op, text, inputs, ::op_table::gradients,                                                    \
      [](OP_TABLE_INPUTS([[maybe_unused]] const taper::Tensor&, const taper::Tensor&)) {           \
        return ::op_table::detail::results(call);                                                  \
      },                                                                                           \
      [](OP_TABLE_INPUTS([[maybe_unused]] auto&, const auto&)) { OP_TABLE_MAYBE(in_place) },       \
      []([[maybe_unused]] auto& out, OP_TABLE_INPUTS([[maybe_unused]] const auto&, const auto&)) { \
        OP_TABLE_MAYBE(out_form)                                                                   \
      } __VA_OPT__(, ) __VA_ARGS__)

/// A call of a function: ROW(op, (arguments), "inputs", gradients, options...).
#define ROW(op, args, inputs, gradients, ...)                                \
  OP_TABLE_ROW(op, #op #args, inputs, gradients, taper::op args, op##_ args, \
               op##_out(out, OP_TABLE_STRIP args) __VA_OPT__(, ) __VA_ARGS__)
/// A call of a method of input a.
#define METHOD(op, args, inputs, gradients, ...)                          \
  OP_TABLE_ROW(op, #op #args, inputs, gradients, a.op args, a.op##_ args, \
               out.op##_out args __VA_OPT__(, ) __VA_ARGS__)
/// A statement that throws an Error containing the words: WRONG(matmul(ones({2, 3}), ones({2, 3})),
/// "...").
#define WRONG(call, words)             \
  ::op_table::Wrong {                  \
    #call, [] { (void)(call); }, words \
  }
/// One that a device does not look for, as PyTorch's don't: it would have to wait.
#define WRONG_ON_CPU(call, words)            \
  ::op_table::Wrong {                        \
    #call, [] { (void)(call); }, words, true \
  }
