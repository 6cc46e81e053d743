#pragma once

// Named choices of options: `kMean`, `kReflect`, ... Each is a type of its own, so that an option's
// variant lists exactly what it takes, as in LibTorch.

namespace taper {

namespace enumtype {
#define TAPER_FORALL_ENUMS(_) \
  _(Linear)                   \
  _(Conv1D)                   \
  _(Conv2D)                   \
  _(Conv3D)                   \
  _(ConvTranspose1D)          \
  _(ConvTranspose2D)          \
  _(ConvTranspose3D)          \
  _(Sigmoid)                  \
  _(Tanh)                     \
  _(ReLU)                     \
  _(GELU)                     \
  _(SiLU)                     \
  _(Mish)                     \
  _(LeakyReLU)                \
  _(FanIn)                    \
  _(FanOut)                   \
  _(Constant)                 \
  _(Reflect)                  \
  _(Replicate)                \
  _(Circular)                 \
  _(Nearest)                  \
  _(Bilinear)                 \
  _(Bicubic)                  \
  _(Trilinear)                \
  _(Area)                     \
  _(NearestExact)             \
  _(Sum)                      \
  _(Mean)                     \
  _(Max)                      \
  _(None)                     \
  _(BatchMean)                \
  _(Zeros)                    \
  _(Border)                   \
  _(Reflection)               \
  _(RNN_TANH)                 \
  _(RNN_RELU)                 \
  _(LSTM)                     \
  _(GRU)                      \
  _(Valid)                    \
  _(Same)
#define TAPER_ENUM_TYPE(name) \
  struct k##name {};
TAPER_FORALL_ENUMS(TAPER_ENUM_TYPE)
#undef TAPER_ENUM_TYPE
}  // namespace enumtype

#define TAPER_ENUM_VALUE(name) inline constexpr enumtype::k##name k##name{};
TAPER_FORALL_ENUMS(TAPER_ENUM_VALUE)
#undef TAPER_ENUM_VALUE
#undef TAPER_FORALL_ENUMS

}  // namespace taper
