#pragma once

#include <variant>

#include "taper/nn/enum.h"
#include "taper/nn/module.h"

namespace taper::nn {

#define TAPER_RNN_FIELDS                                                       \
  TAPER_ARG(int64_t, input_size);                                              \
  TAPER_ARG(int64_t, hidden_size);                                             \
  TAPER_ARG(int64_t, num_layers) = 1;                                          \
  TAPER_ARG(bool, bias) = true;                                                \
  /* Input and output as [batch, time, ...] rather than [time, batch, ...]. */ \
  TAPER_ARG(bool, batch_first) = false;                                        \
  /* Probability of dropout between layers. */                                 \
  TAPER_ARG(double, dropout) = 0.0;                                            \
  TAPER_ARG(bool, bidirectional) = false

struct TAPER_API RNNOptions {
  using nonlinearity_t = std::variant<enumtype::kTanh, enumtype::kReLU>;
  RNNOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  TAPER_ARG(nonlinearity_t, nonlinearity) = kTanh;
  TAPER_RNN_FIELDS;
};
struct TAPER_API LSTMOptions {
  LSTMOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  TAPER_RNN_FIELDS;
};
struct TAPER_API GRUOptions {
  GRUOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  TAPER_RNN_FIELDS;
};
#undef TAPER_RNN_FIELDS

/// Options of the one-step cells.
struct TAPER_API RNNCellOptions {
  using nonlinearity_t = RNNOptions::nonlinearity_t;
  RNNCellOptions(int64_t input_size, int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  TAPER_ARG(int64_t, input_size);
  TAPER_ARG(int64_t, hidden_size);
  TAPER_ARG(bool, bias) = true;
  TAPER_ARG(nonlinearity_t, nonlinearity) = kTanh;
};
#define TAPER_CELL_OPTIONS(Name)                                \
  struct TAPER_API Name##Options {                              \
    Name##Options(int64_t input_size, int64_t hidden_size)      \
        : input_size_(input_size), hidden_size_(hidden_size) {} \
    TAPER_ARG(int64_t, input_size);                             \
    TAPER_ARG(int64_t, hidden_size);                            \
    TAPER_ARG(bool, bias) = true;                               \
  }
TAPER_CELL_OPTIONS(LSTMCell);
TAPER_CELL_OPTIONS(GRUCell);
#undef TAPER_CELL_OPTIONS

}  // namespace taper::nn
