#pragma once

#include <cstdint>

#include "taper/kernels/cpu/cpu.h"

// How elementwise kernels walk over elements. The two inner dimensions are cut into tiles. Within a
// tile each operand becomes dense rows of the compute type: where it lies, if it is that already,
// else in a buffer in L1, filled before and written back after. The op itself then is one plain
// loop over rows (loops.h).

TAPER_CPU_BEGIN

/// One call of an op's loop: `count` elements of dense arrays.
struct Run {
  void* out;
  const void* in[3];
  int64_t count;
  const void* parameters;
};
/// False: a zero among integer divisors.
using Loop = bool (*)(const Run&);

struct Operand {
  void* data;
  const int64_t* strides;  ///< of the plan, in elements; null for one number for all positions
  ScalarType dtype;        ///< in memory
  bool widen;              ///< a half that the loop sees as float
};

/// Operand 0 is written, the others are read.
struct WalkArgs {
  int64_t numel;
  int rank;
  const int64_t* sizes;
  int inputs;
  Operand operands[4];
  Loop loop;  ///< null: plain copy of operand 1
  const void* parameters;
  int64_t grain;  ///< elements worth a thread
};

constexpr int64_t kCheapGrain = 16384;
constexpr int64_t kCostlyGrain = 4096;

/// Elements of a buffer; operands have no larger pieces when they go through one.
constexpr int64_t kTileElements = 2048;
/// Results from this size on, which will not stay in a cache, are written past them.
constexpr int64_t kStreamBytes = int64_t{32} << 20;

Status walk(const WalkArgs& args, const Stream& stream);

TAPER_CPU_END
